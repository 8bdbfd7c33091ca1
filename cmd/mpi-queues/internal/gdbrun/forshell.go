package gdbrun

import (
	"regexp"

	"github.com/mpi-queues/mpi-queues/mqs"
)

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
