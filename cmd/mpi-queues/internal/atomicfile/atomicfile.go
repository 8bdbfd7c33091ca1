// Package atomicfile makes files that are there as a whole or, if that fails, as they were before.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes a file anew: it is there as a whole or, if that fails, as it
// was before. A device or a pipe is written to as it is.
func Write(path string, fill func(*os.File) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one
	}
	fillIn := func(name string, flags int, mode os.FileMode) error {
		f, err := os.OpenFile(name, flags, mode)
		if err != nil {
			return cantWrite(path, err)
		}
		return errors.Join(fill(f), f.Close())
	}
	mode := os.FileMode(0o666)
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fillIn(path, os.O_WRONLY, 0)
	case err == nil:
		mode = info.Mode().Perm()
	}
	return Replace(path, func(fresh string) error { return fillIn(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) })
}

func cantWrite(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s can't be written: %w", path, err)
}

// Replace makes a file or a link anew: it is made somewhere else, and takes its place at
// once. A link of its name is replaced, and what it leads to stays. A folder that a killed
// process has left is in nobody's way: each has a name of its own.
func Replace(path string, create func(fresh string) error) error {
	folder, err := os.MkdirTemp(filepath.Dir(path), ".mpi-queues-")
	if err != nil {
		return cantWrite(path, err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	fresh := filepath.Join(folder, filepath.Base(path))
	if err := create(fresh); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}
