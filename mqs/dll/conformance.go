package dll

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/dll/needs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Verdict is the verdict on one point.
type Verdict string

// The verdicts.
const (
	Right  Verdict = "right"
	Wrong  Verdict = "WRONG"
	Remark Verdict = "note" // allowed, but something is lost by it
)

// Finding is one point of a conformance report.
type Finding struct {
	// Subject is what was checked: the DLL itself, or how it reads a synthetic process.
	Subject string
	Verdict Verdict
	Text    string
}

// Report is what a DLL does right and wrong, in the order of the checks.
type Report struct {
	Path     string
	Findings []Finding
}

// Failed says whether the DLL does anything wrong.
func (r *Report) Failed() bool {
	for _, f := range r.Findings {
		if f.Verdict == Wrong {
			return true
		}
	}
	return false
}

// Check checks a DLL for those who write it: which entry points it has, and how it reads synthetic
// processes, each in a host of its own. The DLL is loaded whoever owns it. The error is ctx's.
func (hs *Hosts) Check(ctx context.Context, path string, limit time.Duration) (*Report, error) {
	r := &Report{Path: path}
	c := &check{report: r, subject: "the DLL", limit: limit, path: path, hosts: hs}
	if c.library(ctx) {
		for _, s := range synthetics {
			c.subject = "a process " + s.title
			c.process(ctx, s)
		}
		if !c.shown {
			c.subject = "all of them"
			c.find(Remark, "it shows none of these processes, so nothing is known of how it reads queues")
		}
	}
	return r, ctx.Err()
}

// check is the check of one DLL.
type check struct {
	hosts   *Hosts
	report  *Report
	subject string
	path    string
	limit   time.Duration
	shown   bool // it has shown a process
}

func (c *check) find(v Verdict, format string, args ...any) {
	c.report.Findings = append(c.report.Findings, Finding{c.subject, v, fmt.Sprintf(format, args...)})
}

// start starts a host with the DLL loaded.
func (c *check) start(ctx context.Context) (*hostProcess, *wire.Reply, error) {
	if err := needs.Fits(c.path); err != nil {
		return nil, nil, err
	}
	h, err := startHost(c.path, nil, c.hosts.Command)
	if err != nil {
		return nil, nil, err
	}
	reply, err := h.do(ctx, nil, c.limit, wire.ToHost{Load: &wire.Load{Path: c.path}})
	return h, reply, err
}

// library checks the DLL itself. It returns false if the DLL can't be used.
func (c *check) library(ctx context.Context) bool {
	h, reply, err := c.start(ctx)
	if h != nil {
		defer c.printed(h)
	}
	if reply == nil || reply.Loaded == nil {
		c.find(Wrong, "%v", err)
		return false
	}
	l := reply.Loaded
	missing := map[abi.Need][]string{}
	for _, e := range l.Missing {
		missing[e.Need()] = append(missing[e.Need()], e.String())
	}
	if names := missing[abi.Required]; names != nil {
		c.find(Wrong, "lacks %s", strings.Join(names, ", "))
	} else {
		c.find(Right, "has all functions that a debugger needs")
	}
	for _, e := range l.Missing {
		if loss, ok := losses[e]; ok {
			c.find(Remark, "has no %s: %s", e, loss)
		}
	}
	if l.SymbolsError != "" {
		c.find(Remark, "the names that it exports and imports can't be read: %s", l.SymbolsError)
	} else {
		c.exports(l.Exports)
		c.imports(l.Imports)
	}
	if l.Compatibility == abi.CompatibilityMPI2 && missing[abi.MPI2] != nil {
		c.find(Remark, "has compatibility level %d, but lacks %s", l.Compatibility, strings.Join(missing[abi.MPI2], ", "))
	}
	if l.Version == "" {
		c.find(Wrong, "mqs_version_string returns no text")
	} else {
		c.find(Right, "says that it is %q", l.Version)
	}
	if l.Compatibility == abi.Compatibility || l.Compatibility == abi.CompatibilityMPI2 {
		c.find(Right, "has compatibility level %d", l.Compatibility)
	}
	if l.Width == int32(unsafe.Sizeof(abi.TaddrT(0))) {
		c.find(Right, "has addresses of %d bytes", l.Width)
	}
	if err != nil {
		c.find(Wrong, "can't be used: %v", err)
	}
	return err == nil
}

// losses says what a debugger can't do without an optional entry point.
var losses = map[abi.Entry]string{
	abi.DLLTaddrWidth:      "a debugger can't see whether its addresses are wide enough",
	abi.GetCommGroup:       "a debugger can't show the members of communicators",
	abi.DestroyImageInfo:   "what it keeps of an image is never freed",
	abi.DestroyProcessInfo: "what it keeps of a process is never freed",
}

// exports checks the names that the DLL defines besides the interface's. The 1.03 note wants none, or
// a prefix such as the vendor's.
func (c *check) exports(names []string) {
	if len(names) == 0 {
		return
	}
	if prefix := commonPrefix(names); prefix != "" {
		c.find(Right, "exports names beside the interface's that all begin with %s", prefix)
		return
	}
	c.find(Remark, "exports %s, which have no prefix in common: another library's function of such a name may be called in place of its own",
		enumerate(names))
}

// enumerate returns a list of names for a sentence.
func enumerate(names []string) string {
	const most = 8
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// allocators are functions that allocate or free memory, and blockers are functions that may wait for another process or for
// time to pass. Names are spelled as [plainName] returns them.
var (
	allocators = strings.Fields("malloc calloc realloc reallocarray free posix_memalign aligned_alloc memalign valloc pvalloc " +
		"strdup strndup wcsdup asprintf vasprintf mmap mmap64 sbrk brk")
	blockers = strings.Fields("sleep usleep nanosleep clock_nanosleep pause wait wait3 wait4 waitpid waitid system pclose " +
		"poll ppoll select pselect epoll_wait epoll_pwait " +
		"connect accept accept4 recv recvfrom recvmsg recvmmsg send sendto sendmsg sendmmsg getaddrinfo gethostbyname " +
		"pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait pthread_join pthread_barrier_wait sem_wait sem_timedwait " +
		"sigwait sigwaitinfo sigtimedwait sigsuspend flock lockf msgrcv mq_receive semop")
)

// isAllocator reports whether a function allocates or frees memory. The prefixes are those of C++'s operators new, new[], delete
// and delete[] (Itanium C++ ABI, 5.1.4).
func isAllocator(name string) bool {
	for _, operator := range []string{"_Znw", "_Zna", "_Zdl", "_Zda"} {
		if strings.HasPrefix(name, operator) {
			return true
		}
	}
	return slices.Contains(allocators, plainName(name))
}

// plainName returns the function that the C library's __strdup, __asprintf_chk and the like stand for.
func plainName(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(name, "__"), "_chk")
}

// imports checks which functions the DLL takes from other libraries. The interface asks for mqs_malloc and mqs_free "in
// preference to" the C library's functions, and for nothing that blocks (1.03 note). Imports do not prove calls, so they
// are remarks.
func (c *check) imports(names []string) {
	var allocating, blocking []string
	for _, name := range names {
		if isAllocator(name) {
			allocating = append(allocating, name)
		}
		if slices.Contains(blockers, plainName(name)) {
			blocking = append(blocking, name)
		}
	}
	if allocating != nil {
		c.find(Remark, "imports %s: memory from mqs_malloc is preferred, since the debugger can check that for leaks and corruption",
			enumerate(allocating))
	} else {
		c.find(Right, "imports no known function that allocates memory")
	}
	if blocking != nil {
		c.find(Remark, "imports %s, which can block: a debugger may not respond to its user until the call returns", enumerate(blocking))
	} else {
		c.find(Right, "imports no known function that blocks")
	}
}

// commonPrefix returns the prefix that all names share, up to an underscore.
func commonPrefix(names []string) string {
	prefix := names[0]
	for _, name := range names {
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	start := len(prefix) - len(strings.TrimLeft(prefix, "_"))
	if i := strings.LastIndexByte(prefix[start:], '_'); i > 0 {
		return prefix[:start+i+1]
	}
	return ""
}

// printed ends the host, and remarks on what the DLL has printed: a debugger has no place for it.
func (c *check) printed(h *hostProcess) {
	h.close()
	lines := slices.DeleteFunc(h.words.all(), func(line string) bool { return strings.HasPrefix(line, wire.Dprints) })
	if len(lines) > 0 {
		c.find(Remark, "prints by itself, at last %.60q: messages belong into what mqs_image_has_queues and mqs_process_has_queues return",
			lines[len(lines)-1])
	}
}

// process makes the DLL read a synthetic process.
func (c *check) process(ctx context.Context, s synthetic) {
	h, reply, err := c.start(ctx)
	if h != nil {
		defer c.printed(h)
	}
	if err != nil || reply.Loaded == nil {
		c.find(Wrong, "%v", err)
		return
	}
	h.loaded, h.early = *reply.Loaded, reply
	source := newSource(ctx, h, Process{Inferior: s}, c.limit, c.hosts.Log)
	_, err = source.do(wire.ToHost{Open: &wire.Open{Process: s.Info(), Image: s.title, Rank: 0}})
	switch {
	case source.broken != nil:
		c.find(Wrong, "%v", err)
		return
	case errors.As(err, new(wordless)):
		c.find(Wrong, "refuses it, but mqs_dll_error_string has no words for why: %v", err)
	case err != nil:
		c.find(Right, "refuses it: %v", err)
	case s.empty:
		c.find(Wrong, "claims to have message queues, though nothing that it has looked for is there")
	}
	if err == nil {
		c.read(source)
	}
	if len(source.missing) > 0 && err == nil {
		c.find(Wrong, "goes on without types or members that it has asked for: %s", strings.Join(source.missing, ", "))
	}
	for _, remark := range source.remarks {
		c.find(Remark, "%s", remark)
	}
	if source.broken == nil {
		c.exit(ctx, source)
	}
	for _, fault := range slices.Sorted(maps.Keys(source.faults)) {
		c.find(Wrong, "%s", fault)
	}
}

// read reads all that the DLL shows.
func (c *check) read(s *Source) {
	comms, ops := 0, 0
	var failures []string
	note := func(err error) {
		const most = 3
		if err != nil && len(failures) < most {
			failures = append(failures, err.Error())
		}
	}
	for comm, err := range s.Communicators() {
		if err != nil {
			note(err)
			continue
		}
		comms++
		for _, class := range mqs.OpClasses {
			for _, err := range s.Operations(&comm, class) {
				if errors.Is(err, read.ErrEndless) {
					c.find(Wrong, "%v", err)
				}
				if err != nil {
					note(err)
					continue
				}
				ops++
			}
		}
	}
	if s.broken != nil {
		c.find(Wrong, "%v", s.broken)
		return
	}
	c.shown = true
	if s.unread > 0 && failures == nil {
		c.find(Wrong, "shows %d communicators with %d operations and no error, though mqs_fetch_data has failed %d times", comms, ops, s.unread)
	} else {
		c.find(Right, "shows %d communicators with %d operations, and comes to an end", comms, ops)
	}
	for _, f := range failures {
		c.find(Remark, "%s", f)
	}
}

// exit makes the DLL forget the process.
func (c *check) exit(ctx context.Context, s *Source) {
	info := s.process.Info()
	if _, err := s.do(wire.ToHost{Exited: &wire.Exited{Inferior: info.Inferior, PID: info.PID}}); err != nil && ctx.Err() == nil {
		c.find(Wrong, "%v", err)
	} else if len(s.faults) == 0 {
		c.find(Right, "frees what it has allocated")
	}
}
