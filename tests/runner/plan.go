package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// plan is what one run does.
type plan struct {
	// run is the name of the run, empty if parts were named.
	run string
	// isWhole is true if no part takes a sample.
	isWhole bool
	// lists is true if the parts are to be listed and nothing is run.
	lists bool
	seed  uint64
	parts []*part
	// stretch is by how much limits are longer than on an idle machine.
	stretch float64
	// omitted are the parts of the run that are not run, with the reasons.
	omitted []omission
	// more are arguments for the last command of the only part.
	more []string
	// keys are hashes of what the parts depend on, for the store. Parts without a key always run.
	keys map[*part]string
	// commit is the checkout's when the run starts: a run in whole changes a file of it.
	commit string
}

// omission is a part that is not run.
type omission struct {
	part   *part
	reason string
}

// newPlan reads the arguments.
func newPlan(args []string) (*plan, error) {
	seed, err := readSeed()
	if err != nil {
		return nil, err
	}
	load, _ := os.ReadFile("/proc/loadavg")
	p := &plan{seed: seed, keys: map[*part]string{}, commit: commit(), stretch: stretchOf(string(load), runtime.NumCPU())}
	switch {
	case len(args) == 0:
		p.run = ordinary
	case args[0] == "list" && len(args) <= 2:
		if len(args) == 2 && !slices.Contains(runs, args[1]) {
			return nil, fmt.Errorf("unknown run %q", args[1])
		}
		p.lists = true
		if len(args) == 1 {
			return p, nil
		}
		p.run, args = args[1], nil
	case slices.Contains(runs, args[0]):
		p.run, p.isWhole = args[0], args[0] == full
		if len(args) > 1 && !p.isWhole {
			return nil, fmt.Errorf("%s takes no arguments", args[0])
		}
		args = args[1:]
	}
	if len(args) > 0 {
		if k := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }); k >= 0 {
			if k != 1 {
				return nil, errors.New("flags are for one part, and follow its name")
			}
			args, p.more = args[:1], args[1:]
		}
		for _, name := range args {
			k := slices.IndexFunc(parts, func(q *part) bool { return q.name == name })
			if k < 0 {
				return nil, fmt.Errorf("unknown part %q", name)
			}
			if !slices.Contains(p.parts, parts[k]) {
				p.parts = append(p.parts, parts[k])
			}
		}
		p.run = ""
		return p, nil
	}
	for _, q := range parts {
		if q.isIn(p.run) {
			p.parts = append(p.parts, q)
		}
	}
	if p.run == ci {
		p.takeTurns()
	}
	return p, nil
}

// readSeed returns the seed of the samples: the day's number unless the environment has another.
func readSeed() (uint64, error) {
	text := os.Getenv("MPI_QUEUES_TEST_SEED")
	if text == "" {
		return uint64(time.Now().Unix() / (24 * 60 * 60)), nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("MPI_QUEUES_TEST_SEED is %q, not a number", text)
	}
	return seed, nil
}

// Limits of one program of tests, which are below those of parts.
const (
	sampleLimit = 11 * time.Minute
	wholeTests  = 7 * time.Hour
)

// limit is how long one program of tests may take.
func (p *plan) limit() time.Duration {
	if p.isWhole {
		return wholeTests
	}
	return time.Duration(float64(sampleLimit) * p.stretch)
}

// mostStretch bounds by how much limits are longer on a busy machine.
const mostStretch = 8

// stretchOf returns the factor by which limits are extended on a busy machine. load is the content of /proc/loadavg. It returns one
// of three values, because go test does not reuse a cached result if -timeout has changed. It returns 1 up to a load of two per
// processor, which the previous run may have left.
func stretchOf(load string, processors int) float64 {
	first, _, _ := strings.Cut(load, " ")
	running, err := strconv.ParseFloat(first, 64)
	if err != nil || running <= 2*float64(processors) {
		return 1
	}
	if running <= 3*float64(processors) {
		return 4
	}
	return mostStretch
}

// perRun is how many parts that take turns one run of ci has. With fourteen of them, seven days cover all.
const perRun = 2

// takeTurns leaves out the parts whose turn it is not. Consecutive seeds cover all parts.
func (p *plan) takeTurns() {
	var turns []*part
	for _, q := range p.parts {
		if q.takesTurns {
			turns = append(turns, q)
		}
	}
	rounds := (len(turns) + perRun - 1) / perRun
	turn := int(p.seed % uint64(rounds))
	for i, q := range turns {
		// Neighbours in the list are alike, so the parts of one run come from different places.
		if i%rounds != turn {
			p.omit(q, fmt.Sprintf("its turn is when the seed modulo %d is %d", rounds, i%rounds))
		}
	}
}

func (p *plan) omit(q *part, reason string) {
	p.omitted = append(p.omitted, omission{q, reason})
	p.parts = slices.DeleteFunc(p.parts, func(r *part) bool { return r == q })
}

// leaveOut leaves out what the change can't affect (ci), or what an earlier full run has done (full). A part that is named is
// run in any case, and counts for the next full run if it is done in whole.
func (p *plan) leaveOut(s *store) error {
	if p.run != ci && !p.isWhole {
		return nil
	}
	files, err := readTree()
	if err != nil {
		return err
	}
	for _, q := range slices.Clone(p.parts) {
		if q.dependsOn == nil && p.run == ci {
			continue
		}
		if p.keys[q], err = files.key(q.dependsOn); err != nil {
			return err
		}
		if passed, ok := s.passed(q, p.keys[q], p.isWhole); ok && p.run != "" {
			p.omit(q, fmt.Sprintf("nothing that can affect it has changed since it passed on %s (%s)", passed.Date, passed.Commit))
		}
	}
	return nil
}

// needs are the lists of packages of all parts.
func (p *plan) needs() []packages {
	var out []packages
	for _, q := range p.parts {
		out = append(out, q.needs...)
	}
	return out
}

// describe says what is run, and what is not.
func (p *plan) describe(out io.Writer) {
	var names []string
	for _, q := range p.parts {
		names = append(names, q.name)
	}
	fmt.Fprintf(out, "running %s\n", strings.Join(names, " "))
	for _, o := range p.omitted {
		fmt.Fprintf(out, "leaving out %s: %s\n", o.part.name, o.reason)
	}
	if !p.isWhole {
		fmt.Fprintf(out, "seed %d; repeat with MPI_QUEUES_TEST_SEED=%d ./tests/run %s\n", p.seed, p.seed, strings.Join(p.words(), " "))
	}
}

// words are the arguments that repeat the run.
func (p *plan) words() []string {
	if p.run == ordinary {
		return nil
	}
	if p.run != "" {
		return []string{p.run}
	}
	var names []string
	for _, q := range p.parts {
		names = append(names, q.name)
	}
	return names
}

// environment is what commands get besides the runner's own environment.
func (p *plan) environment() []string {
	out := []string{
		fmt.Sprintf("MPI_QUEUES_TEST_SEED=%d", p.seed),
		fmt.Sprintf("MPI_QUEUES_TEST_LIMIT=%.0f", p.limit().Seconds()),
	}
	if p.isWhole {
		out = append(out, "MPI_QUEUES_TEST_WHOLE=1")
	}
	return out
}
