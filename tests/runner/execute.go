package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	tried "github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// result is what became of a part.
type result struct {
	part *part
	err  error
	took time.Duration
	// tests are what the part's log has of its tests.
	tests []test
}

// step is a part, or something that parts need to be made first.
type step struct {
	name     string
	part     *part // nil of something that is made
	commands [][]string
	limit    time.Duration
	usual    time.Duration
	// shown gets the output while the commands run, beside the log.
	shown io.Writer
	// after are the steps that have to end first.
	after []*step
	done  chan struct{}
	err   error
}

// makeLimit is how long it may take to make a root, or to build an MPI.
const makeLimit = 40 * time.Minute

// wholeLimit is how long a part may take at least of which no sample is taken.
const wholeLimit = 8 * time.Hour

// grace is how long a command has to end before it is killed.
var grace = 10 * time.Second

// outFolder is where logs and results are written.
func outFolder() string { return filepath.Join("tests", ".out") }

// resultsFolder is the absolute path of the folder into which the tests of a part write what they have tried.
func resultsFolder(part string) string {
	path := filepath.Join(outFolder(), "results", part)
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// steps returns all steps of a plan, those first that take longest with all that they wait for.
func (p *plan) steps(s *store) []*step {
	var all []*step
	made := map[string]*step{}
	for _, q := range p.parts {
		own := &step{
			name: q.name, part: q, commands: q.commands(p), limit: time.Duration(float64(q.limit) * p.stretch), usual: s.usual(q, p.isWhole), done: make(chan struct{}),
		}
		if p.isWhole || q.limit == 0 {
			own.limit = wholeLimit
		}
		if last := len(own.commands) - 1; len(p.more) > 0 {
			own.commands = slices.Clone(own.commands)
			own.commands[last] = slices.Concat(own.commands[last], p.more)
		}
		for _, command := range q.makes {
			words := strings.Join(command, " ")
			m := made[words]
			if m == nil {
				m = &step{name: "make-" + nameOf(command), commands: [][]string{command}, limit: time.Duration(float64(makeLimit) * p.stretch), done: make(chan struct{})}
				if p.isWhole {
					m.limit = wholeLimit
				}
				made[words] = m
				all = append(all, m)
			}
			m.usual = max(m.usual, own.usual+time.Minute) // it starts before the part could
			own.after = append(own.after, m)
		}
		all = append(all, own)
	}
	slices.SortStableFunc(all, func(a, b *step) int { return cmp.Compare(b.usual, a.usual) })
	return all
}

// nameOf is a name for a command's log.
func nameOf(command []string) string {
	path := strings.Split(strings.TrimSuffix(command[0], ".sh"), "/")
	words := append(path[max(0, len(path)-2):], command[1:]...)
	words = slices.DeleteFunc(words, func(word string) bool { return word == "true" })
	return strings.Join(words, "-")
}

// execute runs all steps, as many at once as there are processors.
func (p *plan) execute(ctx context.Context, s *store, out io.Writer) ([]result, error) {
	logs := filepath.Join(outFolder(), "log")
	for _, folder := range []string{logs, resultsFolder("")} {
		if err := os.RemoveAll(folder); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, err
	}
	for _, q := range p.parts {
		if err := os.MkdirAll(resultsFolder(q.name), 0o755); err != nil {
			return nil, err
		}
	}
	var (
		mu      sync.Mutex
		results []result
		group   sync.WaitGroup
	)
	steps := p.steps(s)
	if len(p.parts) == 1 && p.run == "" {
		steps[len(steps)-1].shown = out
	}
	q := newQueue(steps)
	environment := append(os.Environ(), p.environment()...)
	for range max(2, runtime.NumCPU()) {
		group.Add(1)
		go func() {
			defer group.Done()
			for st := q.next(); st != nil; st = q.next() {
				log := filepath.Join(logs, st.name)
				start := time.Now()
				st.err = st.run(ctx, log, append(slices.Clip(environment), "MPI_QUEUES_TEST_RESULTS="+resultsFolder(st.name)))
				took := time.Since(start)
				q.finish(st)
				mu.Lock()
				if st.part != nil {
					results = append(results, p.conclude(s, st, took, log))
				}
				p.report(out, st, took, log)
				mu.Unlock()
			}
		}()
	}
	group.Wait()
	return results, nil
}

// conclude reads what a part's tests have written, and records that it has passed.
func (p *plan) conclude(s *store, st *step, took time.Duration, log string) result {
	r := result{part: st.part, took: took}
	r.tests, _ = readLog(log, st.name)
	if st.err == nil {
		st.err = p.keepResults(st, r.tests)
	}
	if key := p.keys[st.part]; st.err == nil && key != "" {
		st.err = s.keep(st.part, pass{key, p.isWhole, time.Now().UTC().Format(time.DateOnly), p.commit})
	}
	if st.err == nil {
		s.keepTime(st.part, p.isWhole, took)
	}
	r.err = st.err
	return r
}

// keepResults compares what a part's tests have tried with the results that are kept, and fails if a sample saw something else.
// A part that passed in whole replaces its kept results, from which SUPPORT's tables are made.
func (p *plan) keepResults(st *step, tests []test) error {
	got, err := tried.Read(resultsFolder(st.name))
	if err != nil {
		return err
	}
	if p.isWhole {
		good, _, _ := counts(tests)
		return tried.Keep(tried.KeptFile, st.name, time.Now().UTC().Format(time.DateOnly), p.commit, max(1, good), got) // a part without tests counts as one
	}
	kept, err := tried.Kept(tried.KeptFile)
	if err != nil {
		return err
	}
	if differences := tried.Differences(kept, st.name, got); len(differences) > 0 {
		return fmt.Errorf("%s\nif that is right, ./tests/run full %s records it", strings.Join(differences, "\n"), st.name)
	}
	return nil
}

// report says how a step has ended, and shows what failed.
func (p *plan) report(out io.Writer, st *step, took time.Duration, log string) {
	if st.err == nil {
		if st.part != nil || took > time.Second {
			fmt.Fprintf(out, "%s: passed in %.0f s\n", st.name, took.Seconds())
		}
		return
	}
	if text, err := failedOutput(log); err == nil && st.shown == nil {
		fmt.Fprint(out, text)
	}
	fmt.Fprintf(out, "%s: FAILED after %.0f s: %v; its whole output is in %s\n", st.name, took.Seconds(), st.err, log)
}

// run runs the commands of a step. It ends them, with all that they have started, at the step's limit or if ctx ends.
func (st *step) run(ctx context.Context, log string, environment []string) error {
	for _, m := range st.after {
		if m.err != nil {
			return fmt.Errorf("%s has failed", m.name)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, st.limit, fmt.Errorf("it takes more than %s", st.limit))
	defer cancel()
	file, err := os.Create(log)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	var failed error
	for _, command := range st.commands {
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		var to io.Writer = file
		if st.shown != nil {
			to = io.MultiWriter(file, st.shown)
		}
		cmd.Stdout, cmd.Stderr, cmd.Env = to, to, environment
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
		cmd.WaitDelay = grace
		err := cmd.Run()
		if ctx.Err() != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			return context.Cause(ctx)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", strings.Join(command, " "), err))
		}
	}
	return failed
}

// queue hands out steps whose turn it is.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	waiting []*step
}

func newQueue(steps []*step) *queue {
	q := &queue{waiting: steps}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// next returns the first step whose prerequisites have ended, and waits for one if need be. It returns nil at the end.
func (q *queue) next() *step {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) > 0 {
		k := slices.IndexFunc(q.waiting, func(st *step) bool { return !slices.ContainsFunc(st.after, isPending) })
		if k >= 0 {
			st := q.waiting[k]
			q.waiting = slices.Delete(q.waiting, k, k+1)
			return st
		}
		q.changed.Wait()
	}
	return nil
}

// finish says that a step has ended, so that others may begin.
func (q *queue) finish(st *step) {
	q.mu.Lock()
	defer q.mu.Unlock()
	close(st.done)
	q.changed.Broadcast()
}

func isPending(st *step) bool {
	select {
	case <-st.done:
		return false
	default:
		return true
	}
}
