package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// settings are where queues may be read from. Its flags are the settings of the same names
// under gdb's `set mpi-queues', and mean the same.
type settings struct {
	source, dll, safePath string
	dllTimeout            limit
}

func (s *settings) flags(cmd *cobra.Command) {
	s.dllTimeout = gdbrun.DLLTimeout
	f := cmd.Flags()
	f.StringVar(&s.source, "source", string(read.Auto), "read from `SOURCE`: auto, native, dll or both")
	f.StringVar(&s.dll, "dll", "", "use the vendor's queue DLL at `PATH` instead of looking for it")
	f.StringVar(&s.safePath, "dll-safe-path", "", "trust the DLLs in these `FOLDERS`, with colons between them, whoever owns them")
	f.Var(&s.dllTimeout, "dll-timeout", "let a DLL take this many `SECONDS` for one thing, or unlimited")
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
	return nil
}

// forGDB are the settings of a gdb whose helper this process is.
func (s *settings) forGDB() gdbrun.Settings {
	return gdbrun.Settings{Choice: read.Choice(cmp.Or(s.source, string(read.Auto))), DLL: s.dll, SafePath: s.safePath, DLLTimeout: int(s.dllTimeout)}
}
