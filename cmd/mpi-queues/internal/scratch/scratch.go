// Package scratch makes temporary folders, none of which stays, however this process ends.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/mpi-queues/mpi-queues/mqs/dll/trust"
)

// prefix begins the names of these folders, and of no others.
const prefix = "mpi-queues-run-"

// Folder is a folder that lasts as long as this process does. It is locked
// (flock), so that who comes later can tell one that a killed process has left.
type Folder struct {
	// Path is where it is.
	Path string
	lock *os.File
}

// New makes a folder in TMPDIR, and removes those that were left behind there. Programs run what is in such a folder, so
// TMPDIR must be one in which nobody else can replace it.
func New() (*Folder, error) {
	parent, err := filepath.Abs(os.TempDir())
	if err == nil {
		_, err = trust.Parent(parent)
	}
	var f *Folder
	if err == nil {
		removeLeft(parent)
		f, err = newIn(parent)
	}
	if err == nil {
		return f, nil
	}
	var distrust *trust.Error
	var at *fs.PathError
	switch {
	case errors.As(err, &distrust):
		err = errors.New(distrust.Because())
	case errors.As(err, &at) && (at.Path == parent || at.Op == "mkdir"):
		err = at.Err // the sentence names the folder
	}
	return nil, fmt.Errorf("can't make a temporary folder in %s: %w; set TMPDIR to a folder of your own", parent, err)
}

// newIn makes a folder, and locks it.
func newIn(parent string) (*Folder, error) {
	const attempts = 100
	for range attempts { // another process may take this folder for one that was left behind
		path, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			return nil, err
		}
		f := &Folder{Path: path}
		if f.lock, err = os.Open(path); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, errors.Join(err, os.Remove(path))
		}
		// Without locks, as on some file systems of networks, nobody removes it either.
		if err := flock(f.lock, syscall.LOCK_EX); err != nil || f.isThere() {
			return f, nil
		}
		_ = f.lock.Close()
	}
	return nil, errors.New("temporary folders are removed as soon as they are made")
}

// isThere is false if somebody has removed the folder before it was locked.
func (f *Folder) isThere() bool {
	own, err1 := f.lock.Stat()
	now, err2 := os.Lstat(f.Path)
	return errors.Join(err1, err2) == nil && os.SameFile(own, now)
}

// Remove removes the folder with all that is in it.
func (f *Folder) Remove() {
	_ = os.RemoveAll(f.Path)
	_ = f.lock.Close()
}

// IsFull is true if nothing more can be written into it.
func (f *Folder) IsFull() bool {
	var disk syscall.Statfs_t
	return syscall.Statfs(f.Path, &disk) == nil && disk.Blocks > 0 && disk.Bavail == 0
}

// removeLeft removes the user's own folders whose processes are gone. What can't
// be removed stays.
func removeLeft(parent string) {
	paths, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
			continue
		}
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(path)
		}
		_ = f.Close()
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}
