package study

import (
	"errors"
	"fmt"

	"tpccbench/emulate"
	"tpccbench/procsample"
	"tpccbench/record"
)

// storage is what stands behind a run's data, as the record has it: record.Run.Storage.
type storage struct {
	procsample.Device
	Emulation *emulate.Facts `json:"emulation,omitempty"` // nil: the device is what it says
}

// attach makes the device ready for need bytes: an emulated card is made and mounted, and the directory is checked and
// made absolute. detach, which is never nil, must be called after the last use.
func (d Device) attach(need int64) (ready Device, detach func() error, err error) {
	detach = func() error { return nil }
	if emulate.Is(d.Dir) {
		card, err := emulate.Parse(d.Dir)
		if err != nil {
			return d, detach, fmt.Errorf("device %s: %w", d.Name, err)
		}
		if d.Kind != record.KindDisk {
			return d, detach, fmt.Errorf("device %s: it is memory, and %s emulates a card; give a directory with --device %s=DIR", d.Name, d.Dir, d.Name)
		}
		made, err := emulate.Start(card, need)
		if err != nil {
			return d, detach, fmt.Errorf("device %s: %w", d.Name, err)
		}
		d.Dir, detach = made.Dir, made.Close
	}
	err = d.Check(need)
	if err == nil {
		ready, err = d.abs()
	}
	if err != nil {
		err = errors.Join(err, detach())
		detach = func() error { return nil }
	}
	return ready, detach, err
}

// OnDevice makes the device ready for need bytes and calls f with it; the directory of an emulated card is then where it
// is mounted.
func OnDevice(dev Device, need int64, f func(Device) error) (err error) {
	ready, detach, err := dev.attach(need)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, detach()) }()
	return f(ready)
}
