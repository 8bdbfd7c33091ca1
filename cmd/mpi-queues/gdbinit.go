package main

import (
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
			"prints the path of the file to source in gdb:\n\n  init=$(mpi-queues gdbinit) && echo \"source $init\" >> ~/.gdbinit",
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

// unpackExtension writes gdbinit and the Python package below folder, with a
// link to this program beside them, where the extension looks first. It returns
// the path of gdbinit. Each file is replaced at once, since a gdb may be reading
// the old one; modules that an older version had and this one lacks go last.
func unpackExtension(folder string) (string, error) {
	fresh := map[string]bool{}
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
		fresh[to] = true
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return replaceFile(to, func(f *os.File) error {
			_, err := f.Write(text)
			return err
		})
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
	return filepath.Join(folder, "gdbinit"), errors.Join(err, linkHelper(folder))
}

// linkHelper leaves a link to this program in the folder.
func linkHelper(folder string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	link := filepath.Join(folder, "mpi-queues")
	fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(self, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, link)
}
