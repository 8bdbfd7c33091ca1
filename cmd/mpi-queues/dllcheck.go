package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/dllhost"
	"github.com/mpi-queues/mpi-queues/mqs/dll"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

func dllCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "dll-check PATH",
		Short: "Check a queue DLL, for those who write one",
		Long: "Loads a message queue DLL, checks its entry points, its other exports, and whether it imports\n" +
			"functions that allocate memory or can block, and has it read synthetic processes: one\n" +
			"without anything the DLL looks for, and some whose memory is unreadable, all zeros, all\n" +
			"ones, or full of endless lists. It reports what the DLL does right and wrong. A note\n" +
			"reports something that is allowed, but has a drawback for the user.\n\n" +
			"Exit status: 0 if nothing is wrong, 1 if something is, 2 if the command line is.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			path, err := filepath.Abs(args[0])
			var info os.FileInfo
			if err == nil {
				info, err = os.Stat(path)
			}
			if err == nil && !info.Mode().IsRegular() {
				err = fmt.Errorf("%s is no library", path)
			}
			if err != nil {
				return unreadable(err)
			}
			hosts := dll.Hosts{Command: dllhost.Command, Log: zerolog.Nop()}
			report, err := hosts.Check(ctx, path, checkTimeout)
			if err != nil {
				return unreadable(errors.New("interrupted"))
			}
			subject := ""
			for _, f := range report.Findings {
				if f.Subject != subject {
					subject = f.Subject
					fmt.Printf("%s:\n", subject)
				}
				fmt.Printf("  %-5s  %s\n", f.Verdict, printable.Text(f.Text))
			}
			if report.Failed() {
				return unreadable(fmt.Errorf("%s does something wrong", filepath.Base(path)))
			}
			return nil
		},
	}
}

// checkTimeout is how long a DLL may take for one thing.
const checkTimeout = 10 * time.Second
