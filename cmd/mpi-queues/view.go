package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/mqs"
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
		return write(os.Stdout, s, format, isStyled(os.Stdout))
	}
	return replaceFile(v.output, func(f *os.File) error { return write(f, s, format, false) })
}

// isStyled says whether text that goes to f is marked up.
func isStyled(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) && os.Getenv("NO_COLOR") == ""
}

// replaceFile makes a file anew: it is there as a whole or, if that fails, as it
// was before. A device or a pipe is written to as it is.
func replaceFile(path string, fill func(*os.File) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("%s can't be written: %w", path, err)
		}
		return errors.Join(fill(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("%s can't be written: %w", path, err)
	}
	err = errors.Join(fill(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
