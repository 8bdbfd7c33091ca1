//go:build packaging

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/packaging"
)

// packagingCommands makes what packages carry besides the program. It needs a checkout and Go.
func packagingCommands() []*cobra.Command {
	packages := &cobra.Command{
		Use:    "packaging",
		Hidden: true,
		Short:  "Make what packages of mpi-queues carry",
	}
	files := &cobra.Command{
		Use:   "files FOLDER",
		Short: "Write man pages, completions and licences into a new folder",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.RemoveCommand(packages)
			return failed(packaging.Files(root, "./cmd/mpi-queues", args[0]))
		},
	}
	var wheel packaging.Wheel
	var folder string
	ofWheel := &cobra.Command{
		Use:   "wheel PROGRAM",
		Short: "Put a built program into a wheel for pip, and print its path",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			wheel.Program = args[0]
			path, err := wheel.Write(folder)
			if err == nil {
				fmt.Println(path)
			}
			return failed(err)
		},
	}
	flags := ofWheel.Flags()
	flags.StringVar(&folder, "output", ".", "the folder to write it into")
	flags.StringVar(&wheel.Version, "of", "0.0.0-dev", "the program's version")
	flags.StringVar(&wheel.Files, "files", ".packaging", "what `packaging files' has made")
	flags.StringVar(&wheel.Readme, "readme", "README.md", "the description")
	packages.AddCommand(files, ofWheel)
	return []*cobra.Command{packages}
}

func failed(err error) error {
	if err != nil {
		return unreadable(err)
	}
	return nil
}
