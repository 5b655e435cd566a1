package emulate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// KeeperCommand is the hidden command under which the program starts itself to keep a card: it calls Keep.
const KeeperCommand = "emulate-keeper"

// ErrCannot: there is no emulation on this machine, or not for this user. The error's text says what was tried.
var ErrCannot = errors.New("cannot emulate an SD card here")

// request is what a keeper is asked, one JSON line.
type request struct {
	Card      Card  `json:"card"`
	SizeBytes int64 `json:"size_bytes"`
}

// answer is what a keeper says, one JSON line when the card is there, and one when it is gone.
type answer struct {
	Error  string   `json:"error,omitempty"`
	Cannot bool     `json:"cannot,omitempty"` // the error is ErrCannot
	Dir    string   `json:"dir,omitempty"`    // the card's directory
	Facts  Facts    `json:"facts"`
	Limits limiting `json:"limits_as_set"`
}

func failure(err error) *answer {
	return &answer{Error: err.Error(), Cannot: errors.Is(err, ErrCannot)}
}

func (a *answer) err() error {
	switch {
	case a.Error == "":
		return nil
	case a.Cannot:
		return fmt.Errorf("%w%s", ErrCannot, strings.TrimPrefix(a.Error, ErrCannot.Error()))
	}
	return errors.New(a.Error)
}

// Keep is the keeper: it reads a request from in, makes the card, and removes it when in ends, which it does however
// the parent ends. It returns an error only if it was not started as a keeper; other errors go to out.
func Keep(in io.Reader, out io.Writer) error {
	// What ends the parent by a signal to all of a terminal's or a service's processes must not end this one before its
	// work is done.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	r := bufio.NewReader(in)
	line, err := r.ReadBytes('\n')
	var req request
	if err == nil {
		err = json.Unmarshal(line, &req)
	}
	if err != nil {
		return fmt.Errorf("%s is started by this program itself, with a request: %w", KeeperCommand, err)
	}
	say := json.NewEncoder(out)
	k, err := makeCard(&req)
	if err != nil {
		_ = say.Encode(failure(err))
		return nil
	}
	_ = say.Encode(&answer{Dir: k.dir, Facts: k.state.Facts, Limits: k.state.Limits})
	_, _ = io.Copy(io.Discard, r)
	last := new(answer)
	if err := errors.Join(remove(k.dir), k.lock.Close()); err != nil {
		last = failure(err)
	}
	_ = say.Encode(last) // nobody may be left to read it
	return nil
}

// keeping is a card that is there.
type keeping struct {
	dir   string
	lock  *os.File
	state state
}

// makeCard makes the card. What it has made is gone again if it fails.
func makeCard(req *request) (*keeping, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: it needs root", ErrCannot)
	}
	mkfs, err := exec.LookPath("mkfs.ext4")
	if err != nil {
		mkfs, err = exec.LookPath("/usr/sbin/mkfs.ext4") // which is not in everybody's PATH
	}
	if err != nil {
		return nil, fmt.Errorf("%w: mkfs.ext4 is not installed (package e2fsprogs)", ErrCannot)
	}
	control, err := thisController()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCannot, err)
	}
	where, err := filepath.EvalSymlinks(req.Card.Dir)
	if err == nil {
		where, err = filepath.Abs(where)
	}
	if err != nil {
		return nil, err
	}
	if _, err := Clean(where); err != nil {
		return nil, err
	}
	k, err := newKeeping(where)
	if err != nil {
		return nil, err
	}
	if err := k.build(req, mkfs, control); err != nil {
		return nil, errors.Join(err, remove(k.dir), k.lock.Close())
	}
	return k, nil
}

// newKeeping makes the directory of a card, locked.
func newKeeping(where string) (*keeping, error) {
	for {
		dir, err := os.MkdirTemp(where, dirPrefix)
		if err != nil {
			return nil, err
		}
		// Another process may take it for one that was left, before it is locked; then a new one is made.
		lock, err := lockDir(dir, unix.LOCK_SH)
		if err == nil {
			if _, err = os.Stat(dir); err == nil {
				return &keeping{dir: dir, lock: lock}, nil
			}
			lock.Close()
		}
		if !errors.Is(err, errInUse) && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(err, os.Remove(dir))
		}
	}
}

// build makes image, loop device, file system, mount and limits, and notes each step before it is done.
func (k *keeping) build(req *request, mkfs string, control controller) error {
	k.state.Facts = Facts{Profile: req.Card.Profile.Name, Limits: req.Card.Profile.Limits()}
	if err := k.state.write(k.dir); err != nil {
		return err
	}
	image, err := makeImage(filepath.Join(k.dir, imageName), req.SizeBytes)
	if err != nil {
		return err
	}
	defer image.Close()
	device, err := k.attach(image)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCannot, err)
	}
	defer device.Close()
	// Nothing is left for later that would write in the background of a measurement; few files need few inodes.
	cmd := exec.Command(mkfs, "-q", "-F", "-b", "4096", "-m", "0", "-i", "262144", "-L", "tpccbench-card",
		"-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", "/dev/"+k.state.Loop)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: mkfs.ext4 on %s: %w: %s", ErrCannot, k.state.Loop, err, bytes.TrimSpace(out))
	}
	point := filepath.Join(k.dir, mountName)
	if err := os.Mkdir(point, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("/dev/"+k.state.Loop, point, "ext4", unix.MS_NOATIME|unix.MS_NODEV|unix.MS_NOSUID, ""); err != nil {
		return fmt.Errorf("%w: mounting %s: %w", ErrCannot, k.state.Loop, err)
	}
	if err := syncFS(point); err != nil {
		return err
	}
	// The state must tell of the limits before they are there.
	group := filepath.Base(k.dir)
	k.state.Limits = limiting{Version: control.version, Group: control.root}
	if control.version == 2 {
		k.state.Limits.Group = filepath.Join(control.root, group)
	}
	k.state.Facts.How = k.state.Limits.String()
	if err := k.state.write(k.dir); err != nil {
		return err
	}
	if _, err := control.set(k.state.Number, k.state.Facts.Limits, group); err != nil {
		return fmt.Errorf("%w: %w", ErrCannot, err)
	}
	if err := k.state.Limits.joinJournal(k.state.Loop); err != nil {
		return fmt.Errorf("%w: %w", ErrCannot, err)
	}
	return nil
}

// attach gives the image to a free loop device.
func (k *keeping) attach(image *os.File) (*os.File, error) {
	for try := 0; ; try++ {
		loop, err := freeLoop()
		if err != nil {
			return nil, err
		}
		k.state.Loop = loop
		if k.state.Number, err = deviceNumber(loop); err != nil {
			return nil, err
		}
		if err := k.state.write(k.dir); err != nil {
			return nil, err
		}
		device, err := attach(loop, image)
		if errors.Is(err, unix.EBUSY) && try < 10 {
			continue
		}
		return device, err
	}
}

// makeImage makes the card's file. On a disk its blocks are taken at once, so that it cannot run full later.
func makeImage(path string, size int64) (*os.File, error) {
	var fs unix.Statfs_t
	dir := filepath.Dir(filepath.Dir(path))
	if err := unix.Statfs(dir, &fs); err != nil {
		return nil, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < size {
		return nil, fmt.Errorf("the emulated card needs %d MB in %s, and %d are free; give another directory by emulate:PROFILE@DIR",
			size/1e6, dir, free/1e6)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.EOPNOTSUPP
	if fs.Type != unix.TMPFS_MAGIC { // memory is taken as it is needed
		err = unix.Fallocate(int(f.Fd()), 0, 0, size)
	}
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = f.Truncate(size)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: no room for %d bytes: %w", path, size, err), f.Close())
	}
	return f, nil
}

// syncFS writes all that the file system of the directory holds back.
func syncFS(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}
