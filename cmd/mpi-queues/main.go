// Command mpi-queues is the helper that gdb's extension talks to, and the
// commands for a shell.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// Exit codes.
const (
	exitUnreadable = 1 // nothing could be read
	exitUsage      = 2
)

func main() {
	err := checkSpace()
	if err != nil && !slices.Contains(os.Args, helperCommand().Use) { // gdb's extension reports how the helper ends
		complain(err)
		os.Exit(exitUnreadable)
	}
	if err = rootCommand().Execute(); err == nil {
		return
	}
	var exit *exitError
	if errors.As(err, &exit) {
		if exit.err != nil {
			complain(exit.err)
		}
		os.Exit(exit.code)
	}
	// What is left is cobra's own: commands, flags and arguments.
	complain(err)
	fmt.Fprintln(os.Stderr, "Try `mpi-queues --help'.")
	os.Exit(exitUsage)
}

// complain says what went wrong, in words that may be a process's or a file's.
func complain(err error) { fmt.Fprintln(os.Stderr, "mpi-queues:", printable.Text(err.Error())) }

// exitError ends the program with a code, and with an error unless that was said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func unreadable(err error) error { return &exitError{exitUnreadable, err} }

func usage(err error) error { return &exitError{exitUsage, err} }

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "mpi-queues",
		Short: "Show the message queues of MPI programs",
		Long: "mpi-queues shows the pending sends, pending receives and unexpected messages of\n" +
			"running MPI programs, and of their core files, through gdb.\n\n" +
			"In gdb: source the file that `mpi-queues gdbinit' prints, then type `mpi-queues'.",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("mpi-queues {{.Version}}\n")
	root.AddCommand(startCommands()...)
	root.AddCommand(packagingCommands()...)
	root.AddCommand(helperCommand(), dllHostCommand(), dumpCommand(), replayCommand(), gdbinitCommand(), demoCommand(), dllCheckCommand(), reportCommand(), jobsCommand(), doctorCommand(), collectCommand(), connectCommand(), relayCommand())
	return root
}

// version is what `go install` or `go build` recorded of this program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
