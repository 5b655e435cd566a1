package emulate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Device is an emulated card that is mounted.
type Device struct {
	Dir   string // where its file system is mounted
	Facts Facts

	home   string // the card's directory
	lock   *os.File
	keeper *exec.Cmd
	pipe   io.Closer // the keeper's standard input
	says   *bufio.Reader
	stderr *strings.Builder
	leave  func() error // moves this process back to its control group
}

// Sizes of a card, bytes.
const (
	minSizeBytes = 2 << 30
	extraBytes   = 512 << 20 // for the file system's own structures, its journal and what is not foreseen
)

// Start makes a card on which needBytes find room, and shows by measuring that it is as slow as its profile says. The
// command starts a process that calls Keep; without one it is this program with KeeperCommand. The error is ErrCannot
// (wrapped), with the reason, where cards cannot be emulated. The device must be closed; if this process ends before,
// the card is removed all the same.
func Start(card Card, needBytes int64, command ...string) (*Device, error) {
	d, err := start(card, max(minSizeBytes, needBytes+needBytes/8+extraBytes), command)
	if err != nil {
		return nil, err
	}
	if err := verify(d); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func start(card Card, size int64, command []string) (*Device, error) {
	if len(command) == 0 {
		exe, err := os.Executable()
		if err != nil {
			return nil, err
		}
		command = []string{exe, KeeperCommand}
	}
	d := &Device{keeper: exec.Command(command[0], command[1:]...), stderr: new(strings.Builder), leave: func() error { return nil }}
	d.keeper.Args[0] = "tpccbench"
	d.keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal's signals reach it
	d.keeper.Stderr = d.stderr
	in, err := d.keeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	d.pipe = in
	out, err := d.keeper.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.says = bufio.NewReader(out)
	if err := d.keeper.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the keeper of the emulated card: %w", err)
	}
	werr := json.NewEncoder(in).Encode(request{card, size})
	a, err := d.listen()
	if err == nil {
		err = a.err()
	}
	if err != nil {
		in.Close()
		_ = d.keeper.Wait() // what it had made is gone; its standard error is whole
		if a == nil {
			err = errors.Join(werr, fmt.Errorf("%w %s", err, strings.TrimSpace(d.stderr.String())))
		}
		return nil, err
	}
	d.home, d.Facts, d.Dir = a.Dir, a.Facts, filepath.Join(a.Dir, mountName)
	if d.lock, err = lockDir(d.home, unix.LOCK_SH); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	control, err := thisController()
	if err == nil {
		var leave func() error
		if leave, err = control.join(a.Limits); err == nil {
			d.leave = leave
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrCannot, err), d.Close())
	}
	return d, nil
}

// listen reads one answer of the keeper.
func (d *Device) listen() (*answer, error) {
	line, err := d.says.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the keeper of the emulated card ended without an answer: %w", err)
	}
	a := new(answer)
	if err := json.Unmarshal(line, a); err != nil {
		return nil, fmt.Errorf("the keeper of the emulated card said %.200q: %w", line, err)
	}
	return a, nil
}

// Close unmounts and removes the card. If its keeper was killed, this process does what that would have done.
func (d *Device) Close() error {
	err := d.leave()
	d.pipe.Close()
	a, lerr := d.listen()
	_ = d.keeper.Wait()
	switch {
	case lerr == nil:
		err = errors.Join(err, a.err())
	default:
		err = errors.Join(err, remove(d.home))
	}
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	if err != nil {
		return fmt.Errorf("the emulated card in %s cannot be removed: %w; try tpccbench emulate --clean", d.home, err)
	}
	return nil
}
