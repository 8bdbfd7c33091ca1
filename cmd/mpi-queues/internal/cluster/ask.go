package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Question is what is asked of many nodes.
type Question struct {
	Engine string
	// Hosts are those to ask; none if the engine knows them.
	Hosts []string
	// Command is the collector's command line for a host, empty for an engine that asks all at once. again is
	// true if it was asked before.
	Command func(host string, again bool) (commandline.Script, error)
	// Names are the names of the job that is meant, or of the Slurm job that it is a step of; none if they are not known.
	Names []string
	// Program is sent to hosts that ask for it; nil if it can't be.
	Program *Program
	// Local is true if this machine has ranks too. No engine is needed for it.
	Local bool
	// Vouched is true of hosts whose ranks the job's launcher has named: they are of the job that is meant.
	Vouched map[string]bool
	// KeepIDs is true if processes are to have the process ids of their machines, which may be the same.
	KeepIDs bool
	// Stacks is true if the threads' stacks are asked for, too.
	Stacks bool
	// Version is this program's, Limit how long a node may take.
	Version string
	Limit   time.Duration
	// Told is told how many have answered of how many.
	Told func(answered, asked int)

	looks   int
	opener  opener
	numbers map[string]map[int]int // by host and process id
	number  int                    // the last one
	// failed are those hosts that did not answer before: they are not asked again.
	failed map[string]reply
}

// answerPatience is how long an answer may take behind the limit.
const answerPatience = gdbrun.EndPatience + 2*time.Second

// mostAtOnce is how many hosts are asked side by side.
const mostAtOnce = 64

// Answer is what came back.
type Answer struct {
	// Look is of all ranks that were read. Remarks say who did not answer, and why.
	liveness.Look
	Remarks []string
}

// reply is what came of one host, or why nothing did.
type reply struct {
	host, machine string
	part          *part
	err           error
}

// Ask has collectors started, and puts together what they send. It fails if none of it can be used.
func (q *Question) Ask(ctx context.Context) (*Answer, error) {
	replies, err := q.replies(ctx)
	if err != nil {
		return nil, err
	}
	return q.together(replies)
}

// replies has collectors started, and has those of all hosts.
func (q *Question) replies(ctx context.Context) ([]reply, error) {
	q.opener.again()
	var replies []reply
	asked, answered := len(q.Hosts), 0
	if q.Local {
		asked++
	}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(mostAtOnce)
	ask := func(engine, host string, hosts []string) {
		group.Go(func() error {
			got := q.askOnce(ctx, engine, host, hosts)
			mu.Lock()
			defer mu.Unlock()
			replies = append(replies, got...)
			answered += len(got)
			if q.Told != nil {
				q.Told(answered, max(asked, answered))
			}
			return nil
		})
	}
	if q.Local {
		ask(engines["local"], Node(), nil)
	}
	var open []string
	for _, host := range q.Hosts {
		before, is := q.failed[host]
		if err := launch.CheckHost(host); err != nil {
			before, is = reply{host: host, err: err}, true
		}
		if is {
			replies = append(replies, before)
			answered++
		} else {
			open = append(open, host)
		}
	}
	switch {
	case IsPerHost(q.Engine):
		for _, host := range open {
			ask(q.Engine, host, open)
		}
	case q.Engine != "" && (len(open) > 0 || len(q.Hosts) == 0 && !q.Local):
		ask(q.Engine, "", open)
	}
	_ = group.Wait() // none of them fails
	slices.SortStableFunc(replies, func(a, b reply) int { return cmp.Compare(a.host, b.host) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.looks++
	return replies, nil
}

// Retry has those hosts asked again that have not answered.
func (q *Question) Retry() { q.failed = nil }

// askOnce runs the engine once, for a host or, if that is empty, for all of some hosts.
func (q *Question) askOnce(ctx context.Context, engine, host string, hosts []string) []reply {
	// The collector has its own limit, and then has to end its gdb and to say so.
	within, stop := context.WithTimeout(ctx, q.Limit+answerPatience)
	defer stop()
	l := wire.DefaultLimits()
	if host != "" {
		l = wire.HostLimits()
	}
	l.Budget = q.opener.budget
	r := wire.NewReceiver(l)
	defer r.Close()
	command, err := q.Command(host, q.looks > 0)
	if err == nil {
		command, err = fill(engine, host, hosts, command)
	}
	if err == nil {
		err = start(within, command, r, q.Program)
	}
	if within.Err() != nil {
		err = fmt.Errorf("no answer came within %s", q.Limit)
	}
	out := q.open(ctx, host, r.Collectors(), err)
	if formats := r.Others().Formats; len(formats) > 0 {
		err = errors.New("another version of mpi-queues is there")
	}
	switch {
	case host == "":
		for _, asked := range hosts {
			at := slices.IndexFunc(out, func(one reply) bool { return isSameHost(one.host, asked) })
			if at < 0 {
				out = append(out, reply{host: asked, err: err})
				continue
			}
			out[at].host = asked
		}
		if len(out) == 0 {
			out = []reply{{host: "the engine", err: err}}
		}
		return out
	case len(out) == 0:
		return []reply{{host: host, err: err}}
	}
	return out
}

// open reads what collectors have sent, of which one is enough if they are all of one host. engineErr is how the engine ended.
// However late the answer came, there is as much time again to read it here.
func (q *Question) open(ctx context.Context, host string, collectors []*wire.Collector, engineErr error) []reply {
	within, stop := context.WithTimeout(ctx, q.Limit+answerPatience)
	defer stop()
	one := func(c *wire.Collector, account *document.Account) reply {
		out := reply{host: cmp.Or(host, c.Node), machine: c.Machine}
		if c.Version != q.Version && c.Version != "" {
			out.err = fmt.Errorf("it has version %s of mpi-queues, but this machine has version %s", c.Version, q.Version)
			return out
		}
		out.part, out.err = q.opener.open(out.host, c, account)
		switch {
		case errors.Is(out.err, context.DeadlineExceeded):
			out.err = fmt.Errorf("its answer can't be read within %s", q.Limit+answerPatience)
		case out.err != nil && c.Failure == "" && !errors.Is(engineErr, errSilent):
			out.err = fmt.Errorf("%w; %w", engineErr, out.err)
		}
		return out
	}
	out := make([]reply, len(collectors))
	if host != "" {
		// One that was asked twice over has answered if one of them has.
		account := q.opener.budget.Account(within)
		for i, c := range collectors {
			if out[i] = one(c, account); out[i].err == nil {
				return out[i : i+1]
			}
		}
		return out[:min(1, len(out))]
	}
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i, c := range collectors {
		group.Go(func() error {
			out[i] = one(c, q.opener.budget.Account(within))
			return nil
		})
	}
	_ = group.Wait() // none of them fails
	return out
}

// isSameHost compares the name that a host has for itself with the one that it was asked by, without their domains if
// one has none.
func isSameHost(own, asked string) bool {
	short, domain, _ := strings.Cut(own, ".")
	askedShort, askedDomain, _ := strings.Cut(asked, ".")
	return own == asked || short == askedShort && (domain == "" || askedDomain == "")
}

// errNameless means that ranks of two hosts may be of two jobs.
var errNameless = errors.New("nothing gives the job a name that it has on other hosts too: its ranks can't be told from those of another job, unless the process id of a launcher is named that keeps a table of its ranks")

// admitted are those replies that are of the job that is meant, without those that show what another one shows.
type admitted struct {
	replies []*reply
	// twice are remarks on hosts that say to be the same machine as others.
	twice []string
	// order are the reasons why others are not among them, as they came, and reasons has the hosts of each.
	order    []string
	reasons  map[string][]string
	answered int
}

func (a *admitted) refuse(host, reason string) {
	if a.reasons[reason] == nil {
		a.order = append(a.order, reason)
	}
	a.reasons[reason] = append(a.reasons[reason], host)
}

// identity returns a text that two replies have in common only if they say that they are the same machine, with the same
// processes. Any node can learn what another machine calls itself, and say the same: that alone hides no process.
func (one *reply) identity() string {
	if one.machine == "" {
		return ""
	}
	var processes []string
	add := func(rank mqs.Maybe[int32], pid int) {
		processes = append(processes, fmt.Sprint(rank, pid, one.part.Stopped[pid].Started))
	}
	for _, p := range one.part.Processes {
		rank, _ := p.Place()
		add(rank, one.part.pids[p])
	}
	if one.part.List != nil {
		for _, seat := range one.part.List.Seats {
			add(seat.Rank, seat.PID)
		}
	}
	slices.Sort(processes)
	return strings.Join(append(processes, one.machine), "\n")
}

// commonest returns the value that most nodes have, the first of several such; false if no node has one. A single node can't
// make it another one if several others agree.
func commonest[T comparable](replies []reply, of func(*reply) []T) (out T, is bool) {
	nodes := map[T]int{}
	last := map[T]int{} // the reply that was counted last
	for i := range replies {
		if replies[i].err != nil {
			continue
		}
		for _, value := range of(&replies[i]) {
			if last[value] <= i {
				last[value] = i + 1
				nodes[value]++
			}
		}
	}
	most := 0
	for i := range replies {
		if replies[i].err == nil {
			for _, value := range of(&replies[i]) {
				if nodes[value] > most {
					out, most = value, nodes[value]
				}
			}
		}
	}
	return out, most > 0
}

// jobOf returns the names of the job that is meant: those that the asker knows, or else those of the job that most nodes have.
func (q *Question) jobOf(replies []reply) []string {
	if len(q.Names) > 0 {
		return q.Names
	}
	names := func(one *reply) []string { return one.part.Names }
	name, is := commonest(replies, names)
	if !is {
		return nil
	}
	at := slices.IndexFunc(replies, func(one reply) bool { return one.err == nil && slices.Contains(one.part.Names, name) })
	return names(&replies[at])
}

// isOf reports whether names of a job are those of another one, or of a part of it: the name of a step begins with that of
// its Slurm job.
func isOf(names, job []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(job, func(n string) bool {
			return name == n || strings.HasPrefix(n, launch.SlurmName) && strings.HasPrefix(name, n+".")
		})
	})
}

// sizes returns how many ranks the processes of a reply say that the job has.
func (one *reply) sizes() []int32 {
	var out []int32
	for _, p := range one.part.Processes {
		if _, size := p.Place(); size.Known {
			out = append(out, size.Value)
		}
	}
	return out
}

// admit tells which replies are of one job. It fails if nothing tells the jobs of two hosts apart.
func (q *Question) admit(replies []reply) (*admitted, error) {
	a := &admitted{reasons: map[string][]string{}}
	hosts := map[string]string{}      // by identities of replies
	machines := map[string][]string{} // the hosts of each that are not the same in this sense
	names := q.jobOf(replies)
	isOther := func(one *reply) bool {
		return len(names) > 0 && len(one.part.Names) > 0 && !isOf(one.part.Names, names)
	}
	size, _ := commonest(replies, func(one *reply) []int32 {
		if isOther(one) {
			return nil
		}
		return one.sizes()
	})
	q.failed = map[string]reply{}
	isNamed := func(one *reply) bool { return len(one.part.Names) > 0 || q.Vouched[one.host] }
	someNamed := slices.ContainsFunc(replies, func(one reply) bool { return one.err == nil && isNamed(&one) })
	var nameless []string
	for i := range replies {
		one := &replies[i]
		if one.err != nil {
			q.failed[one.host] = *one
			a.refuse(one.host, one.err.Error())
			continue
		}
		a.answered++
		identity := one.identity()
		if other, twice := hosts[identity]; twice && identity != "" {
			a.twice = append(a.twice, fmt.Sprintf("%s is the same machine as %s", one.host, other))
			continue
		}
		if !isNamed(one) {
			if nameless = append(nameless, one.host); someNamed {
				a.refuse(one.host, errNameless.Error())
				continue
			}
		}
		if isOther(one) {
			a.refuse(one.host, "the job there is another one")
			continue
		}
		if i := slices.IndexFunc(one.sizes(), func(other int32) bool { return other != size }); i >= 0 {
			a.refuse(one.host, fmt.Sprintf("its job has %d ranks, but the job on the other nodes has %d", one.sizes()[i], size))
			continue
		}
		hosts[identity] = one.host
		if one.machine != "" {
			machines[one.machine] = append(machines[one.machine], one.host)
		}
		a.replies = append(a.replies, one)
	}
	for _, machine := range slices.Sorted(maps.Keys(machines)) {
		if hosts := machines[machine]; len(hosts) > 1 {
			a.twice = append(a.twice, fmt.Sprintf("%s claim to be the same machine, but have different processes; all processes are shown",
				strings.Join(shortened(hosts), ", ")))
		}
	}
	if len(nameless) > 1 && !someNamed {
		return nil, fmt.Errorf("on %s, %w", strings.Join(shortened(nameless), ", "), errNameless)
	}
	return a, nil
}

// together makes one job of what came.
func (q *Question) together(replies []reply) (*Answer, error) {
	of, err := q.admit(replies)
	if err != nil {
		return nil, err
	}
	ranks := 0
	for _, one := range of.replies {
		ranks += len(one.part.Processes)
	}
	a := &Answer{Look: liveness.Look{Stopped: make(map[int]liveness.Clock, ranks), Left: make(map[int]liveness.Clock, ranks)}, Remarks: of.twice}
	var parts []*mqs.Snapshot
	for _, one := range of.replies {
		q.renumber(one, a)
		q.opener.keep(one.part.memory)
		parts = append(parts, one.part.Snapshot)
	}
	for _, reason := range of.order {
		a.Remarks = append(a.Remarks, fmt.Sprintf("Not read: %s: %s", strings.Join(shortened(of.reasons[reason]), ", "), strings.TrimSuffix(reason, ".")))
	}
	if len(parts) == 0 {
		return nil, errors.New(strings.Join(a.Remarks, "\nmpi-queues: "))
	}
	if len(of.order) > 0 {
		a.Remarks = append([]string{fmt.Sprintf("Answers came from %d of %d nodes", of.answered, len(replies))}, a.Remarks...)
	}
	a.Snapshot, err = read.Merge(parts...)
	return a, err
}

// renumber gives each process of a node a process id that no other has. The same process has the same one in
// each look.
func (q *Question) renumber(one *reply, a *Answer) {
	if q.numbers == nil {
		q.numbers = map[string]map[int]int{}
	}
	before := q.numbers[one.host]
	known := make(map[int]int, len(one.part.Processes))
	q.numbers[one.host] = known
	for _, p := range one.part.Processes {
		pid := one.part.pids[p]
		n := cmp.Or(known[pid], before[pid])
		if n == 0 {
			q.number++
			n = q.number
		}
		known[pid] = n
		if c, ok := one.part.Stopped[pid]; ok {
			a.Stopped[n] = c
		}
		if c, ok := one.part.Left[pid]; ok {
			a.Left[n] = c
		}
		if !q.KeepIDs {
			p.PID = n
		}
	}
}

// shortened are the first of many names, and how many more there are.
func shortened(names []string) []string {
	const most = 20
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", len(names)-most))
}
