package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gate"
)

// The exit codes that shells have for a program that can't be executed, and for one that is not there.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// defaultRankWait is how long a rank waits for its debugger: the others may need long to be started.
const defaultRankWait = time.Minute

// Who traces a rank that is about to execute its program traces one thread of it, the main one, and
// only here the main goroutine can be kept on that.
func init() {
	if len(os.Args) > 1 && (os.Args[1] == rankName || os.Args[1] == launchName) {
		runtime.LockOSThread()
	}
}

const (
	rankName   = "rank"
	launchName = "launch"
)

// launchCommand is what the supervisor starts the command line of a job through.
func launchCommand() *cobra.Command {
	return &cobra.Command{
		Use:                launchName + " PROGRAM [ARGUMENT]...",
		Hidden:             true,
		Short:              "Execute a program that who has started this may trace",
		Args:               cobra.MinimumNArgs(1),
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			gate.LetTrace(os.Getppid())
			err := syscall.Exec(args[0], args, os.Environ())
			return &exitError{exitNotExecutable, fmt.Errorf("%s: %w", args[0], err)}
		},
	}
}

func rankCommand() *cobra.Command {
	var wait time.Duration
	var place string
	c := &cobra.Command{
		Use:   rankName + " [flags] -- PROGRAM [ARGUMENT]...",
		Short: "Start one rank of a job so that it can be debugged",
		Long: "rank executes a program, as one rank of a job. A launcher starts it in place of the\n" +
			"program: `mpirun -n 4 mpi-queues rank -- ./program'.\n\n" +
			"The user's debuggers may trace the program, also where the kernel lets them trace only\n" +
			"what they have started (ptrace_scope 1). If it is `mpi-run' that has started the job, the\n" +
			"rank waits for the debugger first; one for which none comes starts by itself, and says so.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return rank(args, cmp.Or(place, os.Getenv(gate.Variable)), wait)
		},
	}
	// What follows the program is the program's.
	c.Flags().SetInterspersed(false)
	c.Flags().DurationVar(&wait, "wait", defaultRankWait, "how long to wait for the debugger")
	c.Flags().StringVar(&place, gate.Flag, "", "where the debugger is met")
	_ = c.Flags().MarkHidden(gate.Flag)
	return c
}

// rank executes a program in place of this one. place is where its debugger is met, empty if there is none.
func rank(args []string, place string, wait time.Duration) error {
	path, err := program(args[0])
	if err != nil {
		return &exitError{exitNotFound, fmt.Errorf("%s: %w", args[0], err)}
	}
	switch {
	case isRank(path, args):
		// It was put there twice, by the user and for him: the inner one is the rank.
		if place != "" {
			if err := os.Setenv(gate.Variable, place); err != nil {
				return unreadable(err)
			}
		}
	case place == "":
		gate.LetAnyTrace()
	default:
		// What the program starts is no rank of this job.
		if err := os.Unsetenv(gate.Variable); err != nil {
			return unreadable(err)
		}
		ctx, stop := context.WithTimeout(context.Background(), wait)
		err := gate.Meet(ctx, place)
		stop()
		if err != nil {
			fmt.Fprintf(os.Stderr, "mpi-queues: process %d (%s) starts without a debugger: %v\n", os.Getpid(), filepath.Base(args[0]), err)
			gate.LetAnyTrace()
		}
	}
	err = syscall.Exec(path, args, os.Environ())
	return &exitError{exitNotExecutable, fmt.Errorf("%s: %w", args[0], err)}
}

// isRank says whether a command is this one again.
func isRank(path string, args []string) bool {
	if len(args) < 2 || args[1] != rankName {
		return false
	}
	own, err1 := os.Stat("/proc/self/exe")
	other, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(own, other)
}

// program returns the path of a program, as launchers find it: like a shell, and then in the working folder.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) || strings.ContainsRune(name, filepath.Separator) {
		if errors.Is(err, exec.ErrDot) {
			err = nil
		}
		return path, errors.Unwrap(err)
	}
	if here, hereErr := exec.LookPath("./" + name); hereErr == nil {
		return here, nil
	}
	return "", errors.Unwrap(err)
}
