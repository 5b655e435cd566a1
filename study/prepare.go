package study

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"tpccbench/emulate"
	"tpccbench/engines"
	"tpccbench/record"
)

// loadedName names the loaded data that a run can start from: the engine's format, the settings that decide it, W and
// the seed.
func loadedName(f *engines.Factory, spec *record.Spec) string {
	text := fmt.Sprintf("%s w=%d seed=%d", f.Format, spec.W, spec.Seed)
	opt := engines.Options{Settings: spec.Settings}
	for _, s := range f.Settings {
		if s.InFormat {
			text += fmt.Sprintf(" %s=%q", s.Name, f.Get(opt, s.Name))
		}
	}
	sum := sha256.Sum256([]byte(text))
	return "loaded-" + hex.EncodeToString(sum[:8])
}

// fresh returns a directory with a fresh copy of the loaded data for spec, loading it first if no run before needed
// it. The caller removes the directory. An emulated card is as fast as what stands behind it meanwhile.
func (r *Runner) fresh(ctx context.Context, work *workDir, spec *record.Spec, live func(Live)) (dir string, err error) {
	f, err := r.factory(spec.Engine)
	if err != nil {
		return "", err
	}
	limit, err := emulate.Lift(work.path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, limit()) }()
	loaded := filepath.Join(work.path, loadedName(f, spec))
	if _, err := os.Stat(loaded); err != nil {
		making := loaded + ".part"
		if err := os.RemoveAll(making); err != nil {
			return "", err
		}
		if err := os.Mkdir(making, 0o755); err != nil {
			return "", err
		}
		ans, err := r.runChild(ctx, &request{Op: opLoad, WorkDir: work.path, Dir: making, Spec: *spec}, live)
		if err != nil {
			return "", fmt.Errorf("loading %s at W=%d: %w", spec.Engine, spec.W, err)
		}
		if ans.Interrupted {
			return "", ErrInterrupted
		}
		if err := os.Rename(making, loaded); err != nil {
			return "", err
		}
	}
	dir = filepath.Join(work.path, "run")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := copyTree(loaded, dir); err != nil {
		return "", fmt.Errorf("cannot copy the loaded data: %w", err)
	}
	unix.Sync() // what loading and copying left is nobody's share
	return dir, nil
}
