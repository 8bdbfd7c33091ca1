package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/render"
)

// view is how the commands of the shell show a snapshot: the same choices as in gdb.
type view struct {
	comm, queue string
	internal    bool
	members     bool
	limit       limit
	json        bool
	output      string
}

func (v *view) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&v.comm, "comm", "", "show the communicator of this `NAME|ID` only")
	f.StringVar(&v.queue, "queue", "", "show one `QUEUE` only: sends, receives or unexpected")
	f.BoolVar(&v.internal, "internal", false, "show the MPI library's own communicators and messages too")
	f.BoolVar(&v.members, "members", false, "name the members of each communicator, which JSON always does")
	f.Var(&v.limit, "limit", "show at most `N` operations of a queue, or unlimited")
	f.BoolVar(&v.json, "json", false, "write JSON instead of tables")
	f.StringVar(&v.output, "output", "", "write to `FILE` instead of standard output")
	_ = cmd.RegisterFlagCompletionFunc("queue", cobra.FixedCompletions([]string{"sends", "receives", "unexpected"}, cobra.ShellCompDirectiveNoFileComp))
}

func (v *view) filter() (read.Filter, error) {
	queue, err := read.ParseQueue(v.queue)
	return read.Filter{Comm: v.comm, Queue: queue, Internal: v.internal, Limit: int(v.limit)}, err
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
	format := "text"
	if v.json {
		format = "json"
	}
	if v.output == "" {
		return write(os.Stdout, s, format, v.style(isStyled(os.Stdout)))
	}
	return replaceFile(v.output, func(f *os.File) error { return write(f, s, format, v.style(false)) })
}

// style is how text is shown, marked up or not.
func (v *view) style(styled bool) render.Style { return render.Style{On: styled, Members: v.members} }

// isStyled says whether text that goes to f is marked up.
func isStyled(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// replaceFile makes a file anew: it is there as a whole or, if that fails, as it
// was before. A device or a pipe is written to as it is.
func replaceFile(path string, fill func(*os.File) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one
	}
	fillIn := func(name string, flags int, mode os.FileMode) error {
		f, err := os.OpenFile(name, flags, mode)
		if err != nil {
			return cantWrite(path, err)
		}
		return errors.Join(fill(f), f.Close())
	}
	mode := os.FileMode(0o666)
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fillIn(path, os.O_WRONLY, 0)
	case err == nil:
		mode = info.Mode().Perm()
	}
	return replace(path, func(fresh string) error { return fillIn(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) })
}

func cantWrite(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s can't be written: %w", path, err)
}

// replace makes a file or a link anew: it is made somewhere else, and takes its place at
// once. A link of its name is replaced, and what it leads to stays. A folder that a killed
// process has left is in nobody's way: each has a name of its own.
func replace(path string, create func(fresh string) error) error {
	folder, err := os.MkdirTemp(filepath.Dir(path), ".mpi-queues-")
	if err != nil {
		return cantWrite(path, err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	fresh := filepath.Join(folder, filepath.Base(path))
	if err := create(fresh); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}
