package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// settings are how a command reads through gdb. The flags on where queues may be read from are the
// settings of the same names under gdb's `set mpi-queues', and mean the same.
type settings struct {
	source, dll, safePath string
	dllTimeout            limit
	gdb                   string
	timeout               time.Duration
}

func (s *settings) flags(cmd *cobra.Command) {
	s.dllTimeout = gdbrun.DLLTimeout
	f := cmd.Flags()
	f.StringVar(&s.source, "source", string(read.Auto), "read from `SOURCE`: auto, native, dll or both")
	f.StringVar(&s.dll, "dll", "", "use the vendor's queue DLL at `PATH` instead of looking for it")
	f.StringVar(&s.safePath, "dll-safe-path", "", "trust the DLLs in these `FOLDERS`, with colons between them, whoever owns them")
	f.Var(&s.dllTimeout, "dll-timeout", "let a DLL take this many `SECONDS` for one thing, or unlimited")
	f.StringVar(&s.gdb, "gdb", "", "run the gdb at `PATH` (default $MPI_QUEUES_GDB, or gdb in PATH)")
	f.DurationVar(&s.timeout, "timeout", time.Minute, "end a gdb that attaches to no process and reads none for this `TIME`")
	_ = cmd.RegisterFlagCompletionFunc("source", cobra.FixedCompletions([]string{"auto", "native", "dll", "both"}, cobra.ShellCompDirectiveNoFileComp))
}

// check says what is wrong with the flags.
func (s *settings) check() error {
	if _, err := read.ParseChoice(s.source); err != nil {
		return fmt.Errorf("--source: %w", err)
	}
	if strings.ContainsFunc(s.dll+s.safePath, unicode.IsControl) {
		return errors.New("--dll and --dll-safe-path can't name files with control characters in their paths")
	}
	if s.timeout <= 0 {
		return errors.New("--timeout must be more than nothing: 60s, 5m")
	}
	return nil
}

// newGDB finds the gdb and makes it ready. [gdbrun.GDB.Close] removes what it leaves.
func (s *settings) newGDB(known *launch.Finder) (*gdbrun.GDB, error) {
	path, err := gdbrun.Find(s.gdb)
	if err != nil {
		return nil, err
	}
	from := gdbrun.Settings{Choice: read.Choice(cmp.Or(s.source, string(read.Auto))), DLL: s.dll, SafePath: s.safePath, DLLTimeout: int(s.dllTimeout)}
	return gdbrun.New(path, version(), s.timeout, from, known)
}
