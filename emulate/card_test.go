package emulate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// userCommand makes the test binary a program that starts a card, says where it is and whose process keeps it, and
// waits for its standard input to end.
const userCommand = "user-of-a-card"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case KeeperCommand:
			if err := Keep(os.Stdin, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case userCommand:
			d, err := start(Card{mustProfile("slow"), os.Args[2]}, testSize, nil)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Println(d.home, d.keeper.Process.Pid)
			_, _ = io.Copy(io.Discard, os.Stdin)
			if err := d.Close(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

const testSize = 64 << 20

func mustProfile(name string) Profile {
	c, err := Parse(Prefix + name)
	if err != nil {
		panic(err)
	}
	return c.Profile
}

// startCard starts a card for a test, or skips it where there can be none.
func startCard(t *testing.T, where string) *Device {
	t.Helper()
	d, err := start(Card{mustProfile("slow"), where}, testSize, nil)
	if errors.Is(err, ErrCannot) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// left says what is there of a card whose directory was home.
func left(t *testing.T, home, number string) (what []string) {
	t.Helper()
	if _, err := os.Lstat(home); err == nil {
		what = append(what, home)
	}
	loops, err := loopsOf(filepath.Join(home, imageName))
	if err != nil {
		t.Fatal(err)
	}
	what = append(what, loops...)
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), home) {
		what = append(what, "mount")
	}
	c, err := thisController()
	if err != nil {
		t.Fatal(err)
	}
	for file := range testLimits.files() {
		if limit, err := throttle(filepath.Join(c.root, file), number); c.version == 1 && (err != nil || limit != 0) {
			what = append(what, fmt.Sprintf("%s: %d %v", file, limit, err))
		}
	}
	return what
}

// waitGone waits until nothing is left of a card, as its keeper removes it in its own time.
func waitGone(t *testing.T, home, number string) {
	t.Helper()
	for range 600 {
		if len(left(t, home, number)) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("left: %v", left(t, home, number))
}

// A card is an ext4 on a loop device of its own, is labelled whoever looks, and is slow; nothing is left after Close.
func TestCard(t *testing.T) {
	where := t.TempDir()
	d := startCard(t, where)
	closed := false
	defer func() {
		if !closed {
			d.Close()
		}
	}()
	s, err := readState(d.home)
	if err != nil {
		t.Fatal(err)
	}
	facts := Of(d.Dir)
	if facts == nil || *facts != d.Facts || facts.Profile != "slow" || facts.Limits.WritesPerS != 200 || facts.How == "" {
		t.Errorf("the facts of the mounted card are %+v", facts)
	}
	if Of(where) != nil {
		t.Errorf("%s is taken for an emulated card", where)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(d.Dir, &fs); err != nil || fs.Type != unix.EXT4_SUPER_MAGIC {
		t.Errorf("the card's file system is %x, %v", fs.Type, err)
	}
	if err := verify(d); err != nil {
		t.Errorf("the limits do not bite: %v", err)
	}
	if removed, err := Clean(where); err != nil || len(removed) != 0 {
		t.Errorf("a card in use was removed: %v, %v", removed, err)
	}
	closed = true
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if what := left(t, d.home, s.Number); len(what) != 0 {
		t.Errorf("left after Close: %v", what)
	}
}

// Lifted limits do not bite, and do again once they are restored. Elsewhere nothing is lifted.
func TestLift(t *testing.T) {
	where := t.TempDir()
	d := startCard(t, where)
	defer d.Close()
	for _, dir := range []string{d.Dir, where} {
		restore, err := Lift(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(d); (err == nil) != (dir == where) {
			t.Errorf("limits of %s after Lift(%s): %v", d.Dir, dir, err)
		}
		if err := restore(); err != nil {
			t.Fatal(err)
		}
		if err := verify(d); err != nil {
			t.Errorf("the limits do not bite after they were restored: %v", err)
		}
	}
}

// verify sees limits that do not bite.
func TestVerifyWithoutLimits(t *testing.T) {
	d := startCard(t, t.TempDir())
	defer d.Close()
	s, err := readState(d.home)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Limits.clear(s.Number, s.Facts.Limits); err != nil {
		t.Fatal(err)
	}
	d.Facts.Limits.WritesPerS = 1
	if err := verify(d); !errors.Is(err, ErrCannot) || !strings.Contains(err.Error(), "do not bite") {
		t.Errorf("error %v", err)
	}
}

// user starts a process that uses a card, and returns it, the card's directory, the number of its device and the
// keeper's process.
func user(t *testing.T, where string) (cmd *exec.Cmd, home, number string, keeper int) {
	t.Helper()
	startCard(t, where).Close() // skips where there can be none
	cmd = exec.Command(os.Args[0], userCommand, where)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	home, pid, _ := strings.Cut(strings.TrimSpace(line), " ")
	if keeper, err = strconv.Atoi(pid); err != nil {
		t.Fatal(err)
	}
	s, err := readState(home)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, home, s.Number, keeper
}

// After SIGKILL of the program the keeper removes the card, also with a file still open on it.
func TestParentKilled(t *testing.T) {
	cmd, home, number, _ := user(t, t.TempDir())
	f, err := os.Create(filepath.Join(home, mountName, "open"))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	time.AfterFunc(500*time.Millisecond, func() { f.Close() })
	waitGone(t, home, number)
}

// When program and keeper are killed, the card stays until Clean finds it; a card in use beside it is left alone.
func TestBothKilled(t *testing.T) {
	where := t.TempDir()
	cmd, home, number, keeper := user(t, where)
	other := startCard(t, where)
	defer other.Close()
	if err := unix.Kill(keeper, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if removed, err := Clean(); err != nil || len(removed) != 0 {
		t.Errorf("the program still uses the card, and it was removed: %v, %v", removed, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if what := left(t, home, number); len(what) < 3 {
		t.Fatalf("nobody was there to remove the card, and left is only %v", what)
	}
	removed, err := Clean() // found by its loop device
	if err != nil || len(removed) != 1 || removed[0] != home {
		t.Errorf("removed %v, %v; want %s", removed, err, home)
	}
	if what := left(t, home, number); len(what) != 0 {
		t.Errorf("left after Clean: %v", what)
	}
	if Of(other.Dir) == nil {
		t.Error("the other card is gone")
	}
}

// When only the keeper is killed, Close removes the card.
func TestKeeperKilled(t *testing.T) {
	d := startCard(t, t.TempDir())
	s, err := readState(d.home)
	if err != nil {
		t.Fatal(errors.Join(err, d.Close()))
	}
	err = d.keeper.Process.Kill()
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	if what := left(t, d.home, s.Number); len(what) != 0 {
		t.Errorf("left after Close: %v", what)
	}
}

// A keeper that cannot be started or says nothing is an error with what it said.
func TestNoKeeper(t *testing.T) {
	card := Card{mustProfile("slow"), t.TempDir()}
	if _, err := Start(card, 0, filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "cannot start the keeper") {
		t.Errorf("error %v", err)
	}
	if _, err := Start(card, 0, "/bin/sh", "-c", "echo no such luck >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("error %v", err)
	}
}
