package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/extension"
)

func gdbinitCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "gdbinit",
		Short: "Unpack gdb's extension and print the file to source",
		Long: "Unpacks the extension into the user's data folder ($XDG_DATA_HOME or ~/.local/share) and\n" +
			"prints the path of the file to source in gdb:\n\n  init=$(mpi-queues gdbinit) && echo \"source $init\" >> ~/.gdbinit",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := unpacked()
			if err != nil {
				return unreadable(err)
			}
			fmt.Println(path)
			return nil
		},
	}
}

// unpacked unpacks the extension into the user's data folder, and returns the path of its gdbinit, which
// finds this program.
func unpacked() (string, error) {
	folder, err := dataFolder()
	if err != nil {
		return "", err
	}
	path, err := extension.Unpack(folder)
	if err != nil {
		return "", fmt.Errorf("gdb's extension can't be unpacked into %s, since %w: see to that folder, or name another with XDG_DATA_HOME", folder, err)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return path, extension.Link(folder, self)
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
