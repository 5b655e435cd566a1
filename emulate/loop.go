package emulate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Requests of the loop driver that golang.org/x/sys has no names for (linux/loop.h).
const (
	loopControlGetFree = 0x4C82
	loopClearFile      = 0x4C01
	loopAutoclear      = 4 // LO_FLAGS_AUTOCLEAR: the device lets the file go when nobody has it open or mounted
)

// gone says whether an error says that a process, thread or device is not there any more.
func gone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) || errors.Is(err, unix.ENXIO)
}

// freeLoop asks the driver for a loop device that is free.
func freeLoop() (string, error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return "", fmt.Errorf("there are no loop devices: %w", err)
	}
	defer control.Close()
	n, err := unix.IoctlRetInt(int(control.Fd()), loopControlGetFree)
	if err != nil {
		return "", fmt.Errorf("no loop device is free: %w", err)
	}
	return fmt.Sprintf("loop%d", n), nil
}

// attach makes the loop device show the image. While the returned file is open, the device keeps it. unix.EBUSY:
// another has taken the device meanwhile.
func attach(loop string, image *os.File) (*os.File, error) {
	device, err := os.OpenFile("/dev/"+loop, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	config := unix.LoopConfig{Fd: uint32(image.Fd())}
	config.Info.Flags = loopAutoclear
	copy(config.Info.File_name[:len(config.Info.File_name)-1], image.Name())
	if err := unix.IoctlLoopConfigure(int(device.Fd()), &config); err != nil {
		return nil, errors.Join(fmt.Errorf("%s takes no file: %w", loop, err), device.Close())
	}
	return device, nil
}

// loopsOf lists the loop devices that show the image.
func loopsOf(image string) ([]string, error) {
	paths, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, err
	}
	var loops []string
	for _, path := range paths {
		loop := filepath.Base(filepath.Dir(filepath.Dir(path)))
		switch file, err := backingFile(loop); {
		case gone(err):
		case err != nil:
			return nil, err
		case file == image:
			loops = append(loops, loop)
		}
	}
	return loops, nil
}

// deviceNumber is major:minor of a block device.
func deviceNumber(loop string) (string, error) {
	b, err := os.ReadFile(filepath.Join("/sys/block", loop, "dev"))
	return strings.TrimSpace(string(b)), err
}

// How long is waited for processes that are ending to let go of a card.
const (
	unmountPatience = 5 * time.Second
	detachPatience  = 10 * time.Second
	patienceStep    = 50 * time.Millisecond
)

// unmount takes away what is mounted on the point from the device with this number, and no other mount. A file system
// that is still in use leaves the point now, and ends with its last user.
func unmount(point, number string) error {
	deadline := time.Now().Add(unmountPatience)
	for {
		mounted, err := isMounted(point, number)
		if err != nil || !mounted {
			return err
		}
		err = unix.Unmount(point, unix.UMOUNT_NOFOLLOW)
		if errors.Is(err, unix.EBUSY) {
			if time.Now().Before(deadline) {
				time.Sleep(patienceStep)
				continue
			}
			err = unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		}
		if err != nil {
			return &os.PathError{Op: "unmount", Path: point, Err: err}
		}
	}
}

// isMounted says whether the topmost mount on the point is of the device with this number.
func isMounted(point, number string) (bool, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return false, err
	}
	mounts, err := fs.GetMounts()
	if err != nil {
		return false, err
	}
	mounted := false
	for _, m := range mounts {
		if m.MountPoint == escape(point) { // of two on one point the later one covers the earlier
			mounted = m.MajorMinorVer == number
		}
	}
	return mounted, nil
}

// escape writes a path as mountinfo does.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`).Replace(path)
}

// detach waits until the loop device has let the image go, which it does by itself when it is not mounted any more.
func detach(loop, image string) error {
	deadline := time.Now().Add(detachPatience)
	for {
		file, err := backingFile(loop)
		if gone(err) || err == nil && file != image {
			return nil
		}
		if err != nil {
			return err
		}
		if time.Now().After(deadline) {
			break
		}
		time.Sleep(patienceStep)
	}
	device, err := os.Open("/dev/" + loop)
	if err != nil {
		return err
	}
	defer device.Close()
	// One that is still in use is marked, and goes with its last user.
	if _, err := unix.IoctlRetInt(int(device.Fd()), loopClearFile); err != nil && !gone(err) {
		return fmt.Errorf("%s keeps %s: %w", loop, image, err)
	}
	return nil
}
