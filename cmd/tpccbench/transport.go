package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tpccbench/record"
)

// transportInto reads --transport, --cpus and --load-cpus into the spec.
func (fl *cellFlags) transportInto(cmd *cobra.Command, spec *record.Spec, given func(string) bool) error {
	if given("transport") {
		if spec.Transport = fl.transport; fl.transport != record.TransportInProcess && fl.transport != record.TransportHTTP {
			return fmt.Errorf("--transport is %q; it must be %s or %s", fl.transport, record.TransportInProcess, record.TransportHTTP)
		}
		if spec.InProcess() {
			spec.CPUs, spec.LoadCPUs = "", "" // what a record of --from had
		}
	}
	for _, c := range []struct {
		flag, value string
		to          *string
	}{{"cpus", fl.cpus, &spec.CPUs}, {"load-cpus", fl.loadCPUs, &spec.LoadCPUs}} {
		if !cmd.Flags().Changed(c.flag) {
			continue
		}
		if spec.InProcess() {
			return fmt.Errorf("--%s needs --transport %s: in-process, terminals and engine are one process, whose processors taskset chooses", c.flag, record.TransportHTTP)
		}
		if _, err := record.ParseCPUs(c.value); err != nil {
			return fmt.Errorf("--%s: %w", c.flag, err)
		}
		*c.to = c.value
	}
	return nil
}
