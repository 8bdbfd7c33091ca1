package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/atomicfile"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/render"
)

// view is how the commands of the shell show a snapshot: the same choices as in gdb.
type view struct {
	comm, queue string
	what        string // a render.View
	internal    bool
	members     bool
	allComms    bool
	stacks      bool
	limit       limit
	json        bool
	output      string
}

func (v *view) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&v.comm, "comm", "", "show the communicator of this `NAME|ID` only")
	f.StringVar(&v.what, "view", string(render.Queues), "show `WHAT`: queues, communicators, windows or files, all of which JSON has")
	f.StringVar(&v.queue, "queue", "", "show one `QUEUE` only: sends, receives or unexpected")
	f.BoolVar(&v.internal, "internal", false, "show the MPI library's own communicators and messages too")
	f.BoolVar(&v.members, "members", false, "name the members of each communicator, which JSON always does")
	f.BoolVar(&v.allComms, "all-communicators", false, "show communicators without pending operations in the library's order, not in one sentence at the end")
	f.Var(&v.limit, "limit", "show at most `N` operations of a queue, or unlimited")
	f.BoolVar(&v.json, "json", false, "write JSON instead of tables")
	f.StringVar(&v.output, "output", "", "write to `FILE` instead of standard output")
	_ = cmd.RegisterFlagCompletionFunc("queue", cobra.FixedCompletions([]string{"sends", "receives", "unexpected"}, cobra.ShellCompDirectiveNoFileComp))
}

func (v *view) filter() (read.Filter, error) {
	queue, err := read.ParseQueue(v.queue)
	if !slices.Contains(render.Views, render.View(v.what)) {
		err = errors.Join(err, fmt.Errorf("there is no view %q: it is queues, communicators, windows or files", v.what))
	}
	return read.Filter{Comm: v.comm, Queue: queue, Internal: v.internal, Limit: int(v.limit), Stacks: v.stacks,
		NoQueues: !v.json && !render.View(v.what).HasQueues()}, err
}

// limit is a number of operations as gdb's own settings have it: 0 is none.
type limit int

func (l *limit) String() string {
	if *l == 0 {
		return "unlimited"
	}
	return strconv.Itoa(int(*l))
}

// Set reads what a user has written.
func (l *limit) Set(text string) error {
	if text == "unlimited" {
		text = "0"
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return errors.New("it is a number or unlimited")
	}
	*l = limit(n)
	return nil
}

// Type is what pflag calls the value.
func (l *limit) Type() string { return "limit" }

// show writes a snapshot where the user wants it.
func (v *view) show(s *mqs.Snapshot) error {
	return v.out(func(w io.Writer, isStyled bool) error { return v.write(w, s, isStyled) })
}

// out lets something be written where the user wants it.
func (v *view) out(write func(w io.Writer, isStyled bool) error) error {
	if v.output == "" {
		return write(os.Stdout, isStyled(os.Stdout))
	}
	return atomicfile.Write(v.output, func(f *os.File) error { return write(f, false) })
}

// isStyled says whether text that goes to f is marked up.
func isStyled(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && gdbrun.IsTerminal(f)
}

// write writes a snapshot as JSON, or as text that may be marked up.
func (v *view) write(w io.Writer, s *mqs.Snapshot, styled bool) error {
	if v.json {
		return document.Write(w, s)
	}
	return render.View(v.what).Show(w, s, render.Style{On: styled, Members: v.members, AllCommunicators: v.allComms})
}
