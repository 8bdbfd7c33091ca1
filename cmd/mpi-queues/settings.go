package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// settings are where queues may be read from. Its flags are the settings of the same names
// under gdb's `set mpi-queues', which gives them their meanings.
type settings struct {
	source, dll, safePath string
	dllTimeout            limit
}

func (s *settings) flags(cmd *cobra.Command) {
	s.dllTimeout = 10
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

// commands set them in gdb.
func (s *settings) commands() []string {
	out := []string{"source " + cmp.Or(s.source, string(read.Auto)), "dll-timeout " + s.dllTimeout.String()}
	if s.dll != "" {
		out = append(out, "dll "+s.dll)
	}
	if s.safePath != "" {
		out = append(out, "dll-safe-path "+s.safePath)
	}
	return out
}

// settingNames are gdb's names of what is a flag here, in sentences.
var settingNames = regexp.MustCompile("`set mpi-queues (source|dll|dll-safe-path|dll-timeout)\\b")

// asFlags makes of a sentence that was written for gdb's user, who can set something, one for
// the shell's, who can give a flag.
func asFlags(sentence string) string { return settingNames.ReplaceAllString(sentence, "`--$1") }

// forShell makes of a snapshot's sentences for gdb's user those for the shell's, by [asFlags].
func forShell(s *mqs.Snapshot) {
	for _, p := range s.Processes {
		p.Unavailable = asFlags(p.Unavailable)
		for i, n := range p.Notes {
			p.Notes[i] = asFlags(n)
		}
		for i := range p.Differences {
			p.Differences[i].DLL = asFlags(p.Differences[i].DLL)
		}
		for _, c := range p.Communicators {
			for _, q := range c.Queue {
				if q != nil {
					q.Unavailable = asFlags(q.Unavailable)
				}
			}
		}
	}
}
