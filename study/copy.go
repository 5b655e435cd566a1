package study

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// copyTree copies the regular files and folders of from into the new directory to.
func copyTree(from, to string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		src, dst := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case e.IsDir():
			err = copyTree(src, dst)
		case e.Type().IsRegular():
			err = copyFile(src, dst)
		default:
			err = fmt.Errorf("%s is neither file nor folder", src)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	_, err = io.Copy(dst, src)
	return err
}
