// Package confine takes from a process, for good, what a debugger's library has
// no use for: writing files, the network, other processes and new privileges. A
// list says what the process may call; all else fails there with an error.
//
// It is a net under a library that its owner is trusted with, not a cage for
// hostile code: such a library can still read what the user can read, use up a
// processor, and lie. See package dll for whom to trust.
//
// Restrictions of Linux hold for one thread and the threads that it starts.
// A Go program has several before its first line runs, and in one that loads
// libraries without cgo the system call that reaches all of them,
// [syscall.AllThreadsSyscall], is not to be had. So [Exec] restricts one thread
// and starts the program anew from it: what exec leaves is that thread alone.
package confine

import "strings"

// Confinement is what a process can't do any more.
type Confinement struct {
	// NoWriting: it can open no file for writing.
	NoWriting bool
	// NoNetwork: it can open no socket.
	NoNetwork bool
	// NoNewPrivileges: a program that it starts gains none, whatever its owner.
	NoNewPrivileges bool
	// NoPrograms: it can start no program.
	NoPrograms bool
	// Why says why something of it is missing, empty if nothing is.
	Why string
}

// Complete is true if nothing is missing.
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
		// The bar on new privileges alone keeps nothing from anybody.
		return "not confined: " + c.Why
	}
	return "partly confined: " + strings.Join(holds, ", ") + "; " + c.Why + ", so it could " + strings.Join(open, " and ")
}
