package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"tpccbench/engines"
	"tpccbench/matrix"
	"tpccbench/study"
	"tpccbench/tpcc"
)

func newServeCommand() *cobra.Command {
	var engine, dir, device, address string
	var set []string
	var w int
	var seed uint64
	var allowRemote bool
	cmd := &cobra.Command{
		Use:   "serve --engine E",
		Short: "Serve an engine over HTTP/1.1 and JSON",
		Long: `Opens an engine and answers its five transactions over HTTP/1.1 and JSON, until SIGINT or SIGTERM: then it accepts no more
connections, answers what is in flight, closes the engine and exits with 0. An answer comes when the commit is durable.

When it accepts connections it prints one line of JSON on the standard output, with its address and process:
  {"address":"127.0.0.1:8080","url":"http://127.0.0.1:8080","engine":"pure","pid":4711}

POST /v1/new_order, /v1/payment, /v1/order_status, /v1/delivery, /v1/stock_level run a transaction; GET /v1/status says what
the engine says of itself. A connection is a session: keep it alive. A body that is no input gets 400, too long a one 413,
a slow one 408, and an error in JSON that says what is wrong; package wire documents the format.

--dir is the store's directory; an empty one is loaded with -w warehouses first, and it stays. Without --dir the data is
made on --device and removed at the end.

Only this machine can connect unless --allow-remote is given: nobody is asked who they are, and whoever can connect can
write.

To measure an engine over HTTP, use cell --transport http, which starts a server like this one and its terminals in
another process.`,
		Example: `  tpccbench serve --engine pure --addr 127.0.0.1:8080
  tpccbench serve --engine sqlite --dir /data/store --set page_size=1024
  curl -H 'Content-Type: application/json' -d '{"w_id":1,"d_id":2,"threshold":15}' http://127.0.0.1:8080/v1/stock_level`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, settings, err := engineFlags(engine, set)
			if err != nil {
				return err
			}
			scale := tpcc.StandardScale(w)
			if err := scale.Validate(); err != nil {
				return fmt.Errorf("-w: %w", err)
			}
			o := study.ServeOptions{Engine: f, Settings: settings, Dir: dir, Address: address, AllowRemote: allowRemote}
			if allowRemote {
				fmt.Fprintln(cmd.ErrOrStderr(), "tpccbench: --allow-remote: nobody is asked who they are; whoever can reach this address can read and write the store")
			}
			load := func(e engines.Engine) error { return e.Load(tpcc.Population(seed, scale)) }
			serve := func() error {
				return study.Serve(cmd.Context(), o, func(s study.Serving) error { return json.NewEncoder(cmd.OutOrStdout()).Encode(s) })
			}
			if cmd.Flags().Changed("dir") {
				entries, err := os.ReadDir(dir)
				if err != nil {
					return fmt.Errorf("--dir: %w", err)
				}
				if len(entries) == 0 {
					o.Load = load
				}
				return serve()
			}
			dev, err := deviceFlag(device)
			if err != nil {
				return err
			}
			_, need, _ := matrix.Estimate(matrix.Run{Kind: dev.Kind, W: w})
			return study.InWorkDir(dev, need, func(dir string) error {
				o.Dir, o.Load = dir, load
				return serve()
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&engine, "engine", "", "engine; tpccbench engines lists them")
	f.StringVar(&address, "addr", study.LoopbackAddress, "HOST:PORT to listen on; port 0 is any that is free")
	f.BoolVar(&allowRemote, "allow-remote", false, "let --addr be one that other machines can reach; there is no authentication")
	f.StringVar(&dir, "dir", "", "directory of the store, which stays; an empty one is loaded first")
	f.StringVar(&device, "device", "ram", "without --dir: ram, sd or NAME=DIR: where the data is made")
	f.IntVarP(&w, "warehouses", "w", 1, "warehouses that are loaded")
	f.Uint64Var(&seed, "seed", 106, "seed of the population that is loaded")
	f.StringArrayVar(&set, "set", nil, "NAME=VALUE: a setting of the engine (repeatable)")
	return cmd
}

// newServeChildCommand makes the hidden command under which a measuring process starts the program as its server.
func newServeChildCommand() *cobra.Command {
	return &cobra.Command{
		Use:    study.ServerCommand,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return study.ServeChild(allEngines, os.Stdin, os.Stdout)
		},
	}
}
