// Package scratch makes temporary folders, none of which stays, however this process ends.
package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
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

// New makes a folder, and removes those that were left behind.
func New() (*Folder, error) {
	removeLeft()
	const attempts = 100
	for range attempts { // another process may take this folder for one that was left behind
		path, err := os.MkdirTemp("", prefix)
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
func removeLeft() {
	paths, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
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
