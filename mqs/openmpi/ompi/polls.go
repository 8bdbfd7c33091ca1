package ompi

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Probed is what a call asks for that looks for a message and returns at once. Source is -1 for any rank, Tag is
// [AnyTag] for any.
type Probed struct {
	Comm        inferior.Ptr[Communicator]
	Source, Tag int32
}

// testsRequests says whether a call asks whether requests are complete, and returns at once.
func testsRequests(call string) bool {
	return strings.HasPrefix(call, "MPI_Test") && call != "MPI_Test_cancelled" || strings.HasPrefix(call, "MPI_Request_get_status")
}

// asked returns the requests about which a call may ask, and whether there can be no others. While it looks after
// messages, the call still needs what the program has passed to it: a request, the address of one, or that of an
// array (ompi/mpi/c/test.c and its like, 4.0 to 6.0). So it holds that. Old values on its stack may make others
// appear to be asked about, too; the library's own and those that are complete are not.
func (p *Process) asked(c *callstack.Call, open []Waitable) (asked []Waitable, all bool) {
	if !p.Request.Bound() || !IsWaiting(c) || p.prefetchWords(c) != nil {
		return nil, false
	}
	byAddr := map[inferior.Addr]Waitable{}
	for _, w := range open {
		byAddr[w.Addr] = w
	}
	requests, isAll := p.heldRequests(c)
	for _, a := range requests {
		w, isOpen := byAddr[a]
		switch r, err := p.Request.Read(p.R, inferior.Ptr[Request](a)); {
		case isOpen && (IsInternal(w.Tag) || w.Own):
		case isOpen:
			asked = append(asked, w)
		case err != nil:
			isAll = false
		case r.Complete != RequestCompleted: // one of another kind
			asked = append(asked, Waitable{Addr: a})
		}
	}
	return asked, isAll && len(asked) > 0
}

// heldRequests returns the objects of a class of requests that a call holds, or whose handles stand where it
// points to, one after the other; false if there may be more.
func (p *Process) heldRequests(c *callstack.Call) ([]inferior.Addr, bool) {
	null := p.Symbols[symNullRequest].Addr
	first := map[inferior.Addr]inferior.Addr{} // the word at each address that may be that of an array
	var objects []inferior.Addr
	for a := range c.CandidatePointers {
		if p.mayBeObject(a) {
			objects = append(objects, a)
		}
		if word, err := p.R.Pointers(a, 1); err == nil && a%inferior.Addr(p.R.Info().PointerSize) == 0 && (p.mayBeObject(word[0]) || word[0] == null) {
			first[a] = word[0]
			objects = append(objects, word[0])
		}
	}
	slices.Sort(objects)
	objects = slices.Compact(objects)
	if p.prefetchClasses(objects) != nil {
		return nil, false
	}
	is := map[inferior.Addr]bool{}
	for _, a := range objects {
		if a != null && p.isRequest(a) {
			is[a] = true
		}
	}
	isAll := true
	for a, word := range first {
		if word == null || is[word] {
			isAll = p.addArray(a, null, is) && isAll
		}
	}
	var out []inferior.Addr
	for a := range is {
		out = append(out, a)
	}
	slices.Sort(out)
	return out, isAll
}

// addArray adds the requests of an array; false if it has no end.
func (p *Process) addArray(a, null inferior.Addr, is map[inferior.Addr]bool) bool {
	width := inferior.Addr(p.R.Info().PointerSize)
	for i := range inferior.Addr(maxArray) {
		word, err := p.R.Pointers(a+i*width, 1)
		switch {
		case err != nil:
			return true
		case word[0] == null || is[word[0]]:
		case p.mayBeObject(word[0]) && p.isRequest(word[0]):
			is[word[0]] = true
		default:
			return true
		}
	}
	return false
}

// mayBeObject says whether an object can stand at an address at all.
func (p *Process) mayBeObject(a inferior.Addr) bool {
	const firstPages = 1 << 16 // nothing is there (vm.mmap_min_addr)
	return a >= firstPages && a%inferior.Addr(p.R.Info().PointerSize) == 0
}

// prefetchClasses brings what may be objects, and what may be their classes, into the cache.
func (p *Process) prefetchClasses(objects []inferior.Addr) error {
	at := func(addrs []inferior.Addr, size int) []inferior.Range {
		var out []inferior.Range
		for _, a := range addrs {
			out = append(out, inferior.Range{Addr: a, Len: size})
		}
		return out
	}
	if err := p.R.Prefetch(at(objects, p.Object.Size())); err != nil {
		return err
	}
	var classes []inferior.Addr
	for _, a := range objects {
		if o, err := p.Object.Read(p.R, inferior.Ptr[Object](a)); err == nil && p.mayBeObject(o.Class.Addr()) {
			classes = append(classes, o.Class.Addr())
		}
	}
	slices.Sort(classes)
	return p.R.Prefetch(at(slices.Compact(classes), p.Class.Size()))
}
