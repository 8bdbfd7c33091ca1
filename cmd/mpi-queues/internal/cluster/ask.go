package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/liveness"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Question is what is asked of many nodes.
type Question struct {
	Engine string
	// Hosts are those to ask; none if the engine knows them.
	Hosts []string
	// Command is the collector's command line for a host, empty for an engine that asks all at once.
	Command func(host string) string
	// Local is true if this machine has ranks too. No engine is needed for it.
	Local bool
	// KeepIDs is true if processes are to have the process ids of their machines, which may be the same.
	KeepIDs bool
	// Version is this program's, Limit how long a node may take.
	Version string
	Limit   time.Duration
	// Told is told how many have answered of how many.
	Told func(answered, asked int)

	numbers map[string]int
}

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
	var parser document.Parser
	var replies []reply
	asked, answered := len(q.Hosts), 0
	if q.Local {
		asked++
	}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(mostAtOnce)
	ask := func(engine, host string) {
		group.Go(func() error {
			got := q.askOnce(ctx, &parser, engine, host)
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
		ask(engines["local"], Node())
	}
	if isPerHost(q.Engine) {
		for _, host := range q.Hosts {
			ask(q.Engine, host)
		}
	} else if q.Engine != "" {
		ask(q.Engine, "")
	}
	_ = group.Wait() // none of them fails
	slices.SortStableFunc(replies, func(a, b reply) int { return cmp.Compare(a.host, b.host) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return q.together(replies)
}

// askOnce runs the engine once, for a host or for all.
func (q *Question) askOnce(ctx context.Context, parser *document.Parser, engine, host string) []reply {
	// The collector has its own limit, and then has to say so.
	within, stop := context.WithTimeout(ctx, q.Limit+2*endPatience)
	defer stop()
	r := wire.NewReceiver(wire.DefaultLimits())
	err := start(within, fill(engine, host, q.Hosts, q.Command(host)), r, nil)
	if within.Err() != nil {
		err = fmt.Errorf("no answer came within %s", q.Limit)
	}
	var out []reply
	for _, c := range r.Collectors() {
		one := reply{host: cmp.Or(host, c.Node), machine: c.Machine}
		if c.Version != q.Version && c.Version != "" {
			one.err = fmt.Errorf("mpi-queues is there in version %s, and here in version %s", c.Version, q.Version)
		} else if one.part, one.err = open(c, parser); one.err != nil && within.Err() != nil {
			one.err = fmt.Errorf("%w; %w", err, one.err)
		}
		out = append(out, one)
	}
	if formats := r.Others().Formats; len(formats) > 0 {
		err = errors.New("another version of mpi-queues is there")
	}
	switch {
	case host == "":
		for _, asked := range q.Hosts {
			if !slices.ContainsFunc(out, func(one reply) bool { return one.host == asked }) {
				out = append(out, reply{host: asked, err: err})
			}
		}
		if len(out) == 0 {
			out = []reply{{host: "the engine", err: err}}
		}
		return out
	case len(out) == 0:
		return []reply{{host: host, err: err}}
	}
	// One that was asked twice over has answered if one of them has.
	slices.SortStableFunc(out, func(a, b reply) int {
		return cmp.Compare(map[bool]int{true: 1}[a.err != nil], map[bool]int{true: 1}[b.err != nil])
	})
	return out[:1]
}

// together makes one job of what came.
func (q *Question) together(replies []reply) (*Answer, error) {
	a := &Answer{Look: liveness.Look{Stopped: map[int]liveness.Clock{}, Left: map[int]liveness.Clock{}}}
	var parts []*mqs.Snapshot
	machines := map[string]string{}
	reasons := map[string][]string{}
	var order, names []string
	refuse := func(host, reason string) {
		if reasons[reason] == nil {
			order = append(order, reason)
		}
		reasons[reason] = append(reasons[reason], host)
	}
	answered := 0
	for i := range replies {
		one := &replies[i]
		if one.err != nil {
			refuse(one.host, one.err.Error())
			continue
		}
		answered++
		if other, twice := machines[one.machine]; twice && one.machine != "" {
			a.Remarks = append(a.Remarks, fmt.Sprintf("%s is the same machine as %s", one.host, other))
			continue
		}
		machines[one.machine] = one.host
		if len(names) > 0 && len(one.part.Names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(one.part.Names, n) }) {
			refuse(one.host, "the job there is another one")
			continue
		}
		if len(names) == 0 {
			names = one.part.Names
		}
		q.number(one, a)
		parts = append(parts, one.part.Snapshot)
	}
	for _, reason := range order {
		a.Remarks = append(a.Remarks, fmt.Sprintf("Not read: %s: %s", strings.Join(shortened(reasons[reason]), ", "), strings.TrimSuffix(reason, ".")))
	}
	if len(parts) == 0 {
		return nil, errors.New(strings.Join(a.Remarks, "\nmpi-queues: "))
	}
	if len(order) > 0 {
		a.Remarks = append([]string{fmt.Sprintf("Answers came from %d of %d nodes", answered, len(replies))}, a.Remarks...)
	}
	var err error
	a.Snapshot, err = read.Merge(parts...)
	return a, err
}

// number gives each process of a node a process id that no other has. The same process has the same one in
// each look.
func (q *Question) number(one *reply, a *Answer) {
	if q.numbers == nil {
		q.numbers = map[string]int{}
	}
	for _, p := range one.part.Processes {
		key := fmt.Sprint(one.host, " ", p.PID)
		if q.numbers[key] == 0 {
			q.numbers[key] = len(q.numbers) + 1
		}
		n := q.numbers[key]
		if c, ok := one.part.Stopped[p.PID]; ok {
			a.Stopped[n] = c
		}
		if c, ok := one.part.Left[p.PID]; ok {
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
