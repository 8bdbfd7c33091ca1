package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/python"
)

func gdbinitCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "gdbinit",
		Short: "Unpack gdb's extension and print the file to source",
		Long: "Unpacks the extension into the user's data folder ($XDG_DATA_HOME or ~/.local/share) and\n" +
			"prints the path of the file to source in gdb:\n\n  echo \"source $(mpi-queues gdbinit)\" >> ~/.gdbinit",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			folder, err := dataFolder()
			if err != nil {
				return unreadable(err)
			}
			path, err := unpackExtension(folder)
			if err != nil {
				return unreadable(err)
			}
			fmt.Println(path)
			return nil
		},
	}
}

func dataFolder() (string, error) {
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "mpi-queues"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for user data: %w", err)
	}
	return filepath.Join(home, ".local", "share", "mpi-queues"), nil
}

// unpackExtension writes gdbinit and the Python package below folder, as they
// lie in the project, with the program's own path beside them so that the
// extension finds it. It returns the path of gdbinit. Files of an older version
// that are not part of this one are removed.
func unpackExtension(folder string) (string, error) {
	if err := os.RemoveAll(filepath.Join(folder, "python")); err != nil {
		return "", err
	}
	err := fs.WalkDir(python.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := python.Files.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(folder, "python", filepath.FromSlash(path))
		if path == "gdbinit" {
			to = filepath.Join(folder, path)
		}
		return writeFile(to, text)
	})
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "gdbinit"), linkHelper(folder)
}

// writeFile replaces a file at once: a gdb may be reading the old one.
func writeFile(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// linkHelper leaves a link to this program beside the extension, which looks
// there first. A program that `go run` will delete gets none.
func linkHelper(folder string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	link := filepath.Join(folder, "mpi-queues")
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(self, link)
}
