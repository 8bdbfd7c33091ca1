// Package atomicfile writes files atomically: if a write fails, the previous file is unchanged. It does not follow symbolic links
// that another user has made in a world-writable folder.
package atomicfile

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/mpi-queues/mpi-queues/mqs/dll/trust"
)

// newMode is the mode of new files, before the umask.
const newMode = 0o666

// Write makes a file anew: it is there as a whole or, if that fails, as it
// was before. A device or a pipe is written to as it is. A link stays one, and what it leads to is made anew,
// if [follow] follows it.
func Write(path string, fill func(*os.File) error) error {
	path, err := follow(path)
	if err != nil {
		return err
	}
	mode := fs.FileMode(newMode)
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return cantWrite(path, fillIn(path, os.O_WRONLY, 0, fill))
	case err == nil:
		mode = info.Mode().Perm()
	}
	return replace(path, mode, fill)
}

// WriteOwn makes a file anew as [Write] does, for names that another user can foresee: it replaces a link itself, and only
// what belongs to the user or to root.
func WriteOwn(path string, fill func(*os.File) error) error {
	mode := fs.FileMode(newMode)
	if info, err := os.Lstat(path); err == nil {
		if user := owner(info); user != os.Geteuid() && user != 0 {
			return cantWrite(path, fmt.Errorf("it belongs to %s", trust.UserName(user)))
		}
		if info.Mode().IsRegular() {
			mode = info.Mode().Perm()
		}
	}
	return replace(path, mode, fill)
}

func replace(path string, mode fs.FileMode, fill func(*os.File) error) error {
	return Replace(path, func(fresh string) error { return fillIn(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode, fill) })
}

func fillIn(path string, flags int, mode fs.FileMode, fill func(*os.File) error) error {
	f, err := os.OpenFile(path, flags, mode)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}

// cantWrite is a sentence for an error, which may name another path: nil for none.
func cantWrite(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		err = l.Err
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s can't be written: %w", path, err)
}

// Replace makes a file or a link anew: it is made under a name of its own in the same folder, and takes its place at
// once. A link of its name is replaced, and what it leads to stays. What a killed process has left is in nobody's way.
func Replace(path string, create func(fresh string) error) error {
	fresh := filepath.Join(filepath.Dir(path), ".mpi-queues-"+rand.Text())
	err := create(fresh)
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		_ = os.Remove(fresh)
	}
	return cantWrite(path, err)
}

// maxLinks bounds the number of links that a path leads through, as the kernel does.
const maxLinks = 40

// follow resolves path if its last element is a symbolic link. In a world-writable folder with the sticky bit, such as /tmp,
// the link must belong to the user or to the folder's owner. This is the kernel's rule (fs.protected_symlinks:
// Documentation/admin-guide/sysctl/fs.rst), which has to be applied here because the kernel never sees links that were already
// resolved.
// The extension has the same rule in python/mpi_queues/output.py.
func follow(path string) (string, error) {
	for range maxLinks {
		folder, name := filepath.Split(path)
		folder, err := filepath.EvalSymlinks(cmp.Or(folder, "."))
		if err != nil {
			return "", cantWrite(path, err)
		}
		at := filepath.Join(folder, name)
		link, err := os.Lstat(at)
		if err != nil || link.Mode()&fs.ModeSymlink == 0 {
			return at, nil
		}
		above, err := os.Lstat(folder)
		if err != nil {
			return "", cantWrite(at, err)
		}
		if user := owner(link); isSticky(above) && isOpen(above) && user != os.Geteuid() && user != owner(above) {
			err := fmt.Errorf("it is a symbolic link owned by %s in a world-writable folder", trust.UserName(user))
			return "", cantWrite(at, err)
		}
		to, err := os.Readlink(at)
		if err != nil {
			return "", cantWrite(at, err)
		}
		if !filepath.IsAbs(to) {
			to = folder + "/" + to
		}
		// A link in /proc/PID/fd leads to a file that may have another path, or none.
		if here, err := os.Stat(at); err == nil {
			if there, err := os.Stat(to); err != nil || !os.SameFile(here, there) {
				return at, nil
			}
		}
		path = to
	}
	return "", cantWrite(path, syscall.ELOOP)
}

// Folder makes a folder for files, unless it is there, and returns its path without links. One that is there must be
// the user's or root's or, as the folders of projects are, one that its owner shares with a group of the user's.
func Folder(path string) (string, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return "", err
	}
	path, err := follow(cmp.Or(strings.TrimRight(path, "/"), "/"))
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	user := owner(info)
	switch {
	case user == os.Geteuid():
		return path, nil
	case isOpen(info) && !isSticky(info):
		return "", fmt.Errorf("%s can be written to by everybody: name a folder of your own", path)
	case user == 0 || isShared(info):
		return path, nil
	}
	return "", fmt.Errorf("%s belongs to %s: name a folder of your own", path, trust.UserName(user))
}

// isShared reports whether a folder can be written to by a group of the user's, and by nobody else beside its owner.
func isShared(folder fs.FileInfo) bool {
	groups, err := os.Getgroups()
	group := int(folder.Sys().(*syscall.Stat_t).Gid)
	return err == nil && folder.Mode().Perm()&0o022 == 0o020 && (group == os.Getegid() || slices.Contains(groups, group))
}

func owner(file fs.FileInfo) int { return int(file.Sys().(*syscall.Stat_t).Uid) }

func isSticky(folder fs.FileInfo) bool { return folder.Mode()&fs.ModeSticky != 0 }

// isOpen reports whether everybody can write to a folder.
func isOpen(folder fs.FileInfo) bool { return folder.Mode().Perm()&0o002 != 0 }
