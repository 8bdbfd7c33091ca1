package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// view is how the commands of the shell show a snapshot: the same choices as in gdb.
type view struct {
	comm, queue string
	internal    bool
	limit       int
	json        bool
	output      string
}

func (v *view) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&v.comm, "comm", "", "show the communicator of this `NAME|ID` only")
	f.StringVar(&v.queue, "queue", "", "show one `QUEUE` only: sends, receives or unexpected")
	f.BoolVar(&v.internal, "internal", false, "show the MPI library's own communicators and messages too")
	f.IntVar(&v.limit, "limit", 0, "show at most `N` operations of a queue; 0 means all")
	f.BoolVar(&v.json, "json", false, "write JSON instead of tables")
	f.StringVar(&v.output, "output", "", "write to `FILE` instead of standard output")
	_ = cmd.RegisterFlagCompletionFunc("queue", cobra.FixedCompletions([]string{"sends", "receives", "unexpected"}, cobra.ShellCompDirectiveNoFileComp))
}

func (v *view) filter() (mqs.Filter, error) {
	queue, err := mqs.ParseQueue(v.queue)
	if err == nil && v.limit < 0 {
		err = errors.New("the limit can't be negative")
	}
	return mqs.Filter{Comm: v.comm, Queue: queue, Internal: v.internal, Limit: v.limit}, err
}

// show writes a snapshot where the user wants it.
func (v *view) show(s *mqs.Snapshot) error {
	format := "text"
	if v.json {
		format = "json"
	}
	if v.output == "" {
		return write(os.Stdout, s, format, isatty.IsTerminal(os.Stdout.Fd()) && os.Getenv("NO_COLOR") == "")
	}
	f, err := os.Create(v.output)
	if err != nil {
		return err
	}
	if err := write(f, s, format, false); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func replayCommand() *cobra.Command {
	var v view
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Show the queues in a recording, without gdb",
		Long:  "Shows what gdb's command `mpi-queues -record FILE' recorded. No gdb and no MPI is needed.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := v.filter()
			if err != nil {
				return usage(err)
			}
			targets, err := openRecording(args[0])
			if err != nil {
				return unreadable(err)
			}
			s, err := readAll(cmd.Context(), targets, f)
			if err != nil {
				return unreadable(err)
			}
			if err := v.show(s); err != nil {
				return unreadable(err)
			}
			return nil
		},
	}
	v.flags(cmd)
	return cmd
}

func openRecording(path string) ([]target.Target, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	targets, err := target.ReadRecording(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return targets, nil
}
