// Package extension puts gdb's extension, which this program carries, into a folder for gdb to run it from.
package extension

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/atomicfile"
	"github.com/mpi-queues/mpi-queues/mqs/dll/trust"
	"github.com/mpi-queues/mpi-queues/python"
)

// ownFolder makes a folder of the user's own, unless it is there, and sees that
// nobody else has had a say in it: gdb runs what is in it.
func ownFolder(folder string) error {
	// What is above it may be root's.
	above := folder
	for {
		if _, err := os.Lstat(above); !errors.Is(err, fs.ErrNotExist) || above == "/" {
			break
		}
		above = filepath.Dir(above)
	}
	if above != folder {
		if _, err := trust.Folder(above); err != nil {
			return because(err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	return because(isOwn(folder))
}

// isOwn says why a folder is not one that only the user writes to, whatever leads to it.
func isOwn(folder string) error {
	if _, err := trust.Folder(folder); err != nil {
		return err
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is a link", folder)
	}
	if owner := int(info.Sys().(*syscall.Stat_t).Uid); owner != os.Geteuid() {
		return fmt.Errorf("%s belongs to %s", folder, trust.UserName(owner))
	}
	return nil
}

// because is an error of package trust's without what was asked for.
func because(err error) error {
	var distrust *trust.Error
	if errors.As(err, &distrust) {
		return errors.New(distrust.Because())
	}
	return err
}

// Unpack writes gdbinit and the Python package below folder, which is the
// user's own, and returns the path of gdbinit. Each file is replaced at once, since
// a gdb may be reading the old one; modules that an older version had and this one
// lacks go last.
func Unpack(folder string) (string, error) {
	if err := ownFolder(folder); err != nil {
		return "", err
	}
	fresh := map[string]bool{}
	err := fs.WalkDir(python.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(folder, "python", filepath.FromSlash(path))
		if entry.IsDir() {
			return ownFolder(to)
		}
		text, err := python.Files.ReadFile(path)
		if err != nil {
			return err
		}
		if path == "gdbinit" {
			to = filepath.Join(folder, path)
		}
		fresh[to] = true
		return atomicfile.Replace(to, func(fresh string) error { return os.WriteFile(fresh, text, 0o644) })
	})
	if err != nil {
		return "", err
	}
	old, err := filepath.Glob(filepath.Join(folder, "python", "mpi_queues", "*.py"))
	if err != nil {
		return "", err
	}
	for _, path := range old {
		if !fresh[path] {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return filepath.Join(folder, "gdbinit"), err
}

// Link leaves a link to this program in the folder, unless that is one that
// `go run' has built: it is gone when it ends, and anybody can put another into its
// place in a temporary folder. Then the extension looks for an installed one.
func Link(folder, self string) error {
	link := filepath.Join(folder, "mpi-queues")
	if isPassing(self) {
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return atomicfile.Replace(link, func(fresh string) error { return os.Symlink(self, fresh) })
}

// isPassing says whether a program lies in a temporary folder, or where `go run' has
// built it: in a folder go-buildN or, as of Go 1.24, in go's cache.
func isPassing(program string) bool {
	temporary := []string{os.TempDir(), "/tmp", "/var/tmp", os.Getenv("GOTMPDIR")}
	if cache, err := os.UserCacheDir(); err == nil {
		temporary = append(temporary, cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build")))
	}
	for _, folder := range temporary {
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			folder = real
		}
		if filepath.IsAbs(folder) && strings.HasPrefix(program, filepath.Clean(folder)+"/") {
			return true
		}
	}
	return false
}
