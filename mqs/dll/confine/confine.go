// Package confine takes from a process, for good, what a debugger's library does not need: writing files,
// the network, other processes and new privileges. A list says what the process may call; everything else
// fails with an error.
//
// It is a safety net for a library whose owner is trusted, and no cage for hostile code: such a library
// can still read what the user can read, use up a processor, and lie. Package trust says whom to trust.
//
// Linux's restrictions hold for one thread and the threads that it starts. A Go program has several
// threads before its first line runs, and a program that loads libraries without cgo can't use the call
// that reaches all of them, [syscall.AllThreadsSyscall]. So [Exec] restricts one thread and starts the
// program anew from it: exec leaves this thread only.
package confine

import "strings"

// Confinement says what a process can no longer do.
type Confinement struct {
	// NoWriting: it can open no file for writing.
	NoWriting bool
	// NoNetwork: it can open no socket.
	NoNetwork bool
	// NoNewPrivileges: a program that it starts gains none, whatever its owner.
	NoNewPrivileges bool
	// NoPrograms: it can start no program.
	NoPrograms bool
	// Why says why some restriction is missing; it is empty if none is.
	Why string
}

// Complete says whether no restriction is missing.
func (c Confinement) Complete() bool {
	return c.NoWriting && c.NoNetwork && c.NoNewPrivileges && c.NoPrograms
}

// String is a phrase for the user: what holds, and what does not and why.
func (c Confinement) String() string {
	var holds, open []string
	for _, p := range []struct {
		holds        bool
		name, danger string
	}{
		{c.NoWriting, "no writing", "write files"},
		{c.NoNetwork, "no network", "use the network"},
		{c.NoNewPrivileges, "no new privileges", "gain privileges"},
		{c.NoPrograms, "no programs", "start programs"},
	} {
		if p.holds {
			holds = append(holds, p.name)
		} else {
			open = append(open, p.danger)
		}
	}
	switch {
	case len(open) == 0:
		return "confined (" + strings.Join(holds, ", ") + ")"
	case !c.NoWriting && !c.NoNetwork:
		// The ban on new privileges alone protects nothing.
		return "not confined: " + c.Why
	}
	return "partly confined: " + strings.Join(holds, ", ") + "; " + c.Why + ", so it could " + strings.Join(open, " and ")
}
