// Command runner runs the project's tests in parts; tests/run builds and starts it.
//
// A part is one command with a log of its own. The runner installs the packages that the chosen parts need, makes what they
// use (roots, builds of MPICH), runs as many parts side by side as there are processors, and ends with the time of
// each part and of the slowest tests.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// errUsage is returned for arguments that the runner does not know; the usage has been printed.
var errUsage = errors.New("usage")

// errFailed is returned if a part has failed; its output has been printed.
var errFailed = errors.New("failed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case err == nil:
	case errors.Is(err, errUsage):
		os.Exit(2)
	case errors.Is(err, errFailed):
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "tests/run:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if slices.Contains([]string{"help", "-h", "--help"}, strings.Join(args, " ")) {
		fmt.Fprint(out, usage)
		return nil
	}
	p, err := newPlan(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "tests/run: %v\n%s", err, usage)
		return errUsage
	}
	if p.lists {
		return p.list(out)
	}
	store, err := openStore()
	if err != nil {
		return err
	}
	if err := p.leaveOut(store); err != nil {
		return err
	}
	p.describe(out)
	if err := install(ctx, p.needs(), out); err != nil {
		return err
	}
	results, err := p.execute(ctx, store, out)
	if err != nil {
		return err
	}
	summary(out, p, results)
	if slices.ContainsFunc(results, func(r result) bool { return r.err != nil }) {
		return errFailed
	}
	return ctx.Err()
}

const usage = `usage: tests/run [quick|ci|full|list|PART...]

  (nothing)     before each push: unit tests, tests of growth, replays of all recordings and
                verdicts, the extension in gdb, and a sample of real jobs of this machine's
                Open MPI
  quick         the inner loop: the same without the jobs and without the tests of growth
  ci            each submission: all of this, linters, the race detector, VS Code, a browser,
                packages, and by turns other releases' gdbs and MPIs
  full          everything in whole. It goes on where the last one was stopped
  full PART...  these parts in whole
  PART...       these parts, as ci runs them
  PART -FLAG... one part, with more arguments for its last command
  list [RUN]    the parts; of a run, their names in JSON

MPI_QUEUES_TEST_SEED chooses the samples, and the parts that take turns: today's number if it is unset.
`

// list prints the parts, or the names of those of a run in JSON.
func (p *plan) list(out io.Writer) error {
	if p.run != "" {
		names := make([]string, len(p.parts))
		for i, q := range p.parts {
			names[i] = q.name
		}
		return json.NewEncoder(out).Encode(names)
	}
	for _, q := range parts {
		var in []string
		for _, name := range runs {
			if q.isIn(name) {
				in = append(in, name)
			}
		}
		text := strings.Join(in, ", ")
		if q.takesTurns {
			text = strings.Replace(text, ci, ci+" by turns", 1)
		}
		if _, err := fmt.Fprintf(out, "%-15s %-28s %s\n", q.name, text, q.does); err != nil {
			return err
		}
	}
	return nil
}
