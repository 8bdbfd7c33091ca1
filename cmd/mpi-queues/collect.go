package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/cluster"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/render"
)

const collectName = "collect"

// collector reads what is on one node of a job that is on many.
type collector struct {
	settings
	pid        int
	name, node string
	limit      time.Duration
	whileInput bool
	again      bool
	lists      bool
	view       view
	guarded    int
}

func collectCommand() *cobra.Command {
	var c collector
	cmd := &cobra.Command{
		Use:    collectName,
		Hidden: true,
		Short:  "Send what is on this node of a job to who has started this",
		Args:   cobra.NoArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	c.flags(cmd)
	f := cmd.Flags()
	f.IntVar(&c.pid, "pid", 0, "a rank of the job on this node")
	f.StringVar(&c.name, "name", "", "what the environment of the job's ranks calls it")
	f.StringVar(&c.node, "node", "", "what this node is called")
	f.DurationVar(&c.limit, "limit", time.Minute, "how long this may take")
	f.BoolVar(&c.whileInput, "while-input", false, "end when standard input does")
	f.BoolVar(&c.again, "again", false, "have the ranks run for a moment first")
	f.BoolVar(&c.lists, "list", false, "only list the ranks, and do not stop them")
	f.IntVar(&c.guarded, "guard", 0, "do nothing but end this collector if it does not end by itself")
	f.StringVar(&c.view.comm, "comm", "", "only this communicator")
	f.StringVar(&c.view.queue, "queue", "", "only this queue")
	f.Var(&c.view.limit, "operations", "at most so many operations of a queue")
	f.BoolVar(&c.view.internal, "internal", false, "with the MPI library's own messages")
	f.BoolVar(&c.view.stacks, "stacks", false, "with the threads' stacks")
	c.view.json = true
	return cmd
}

// A collector's time is up at its limit. Its gdb then has [gdbrun.EndPatience] to let the ranks go. A collector that is
// still there after endMercy ends itself, and after guardMercy its guard ends it.
const (
	endMercy   = gdbrun.EndPatience + time.Second
	guardMercy = endMercy + 2*time.Second
)

func (c *collector) run(ctx context.Context) error {
	if c.guarded != 0 {
		cluster.Guard(c.guarded, c.limit+guardMercy)
		return nil
	}
	release, err := cluster.Guarded(collectName, "--limit", c.limit.String(), "--guard", strconv.Itoa(os.Getpid()))
	if err != nil {
		return unreadable(err)
	}
	defer release()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, stop = context.WithTimeout(ctx, c.limit)
	defer stop()
	if c.whileInput {
		// Who has started this holds its standard input open, and is gone when that ends.
		var end context.CancelFunc
		ctx, end = context.WithCancel(ctx)
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			end()
		}()
	}
	to, err := wire.NewSender(os.Stdout, cmp.Or(c.node, cluster.Node()), cluster.Machine(), version())
	if err != nil {
		return unreadable(err)
	}
	// Nothing of a process that does not answer keeps this from its end.
	time.AfterFunc(c.limit+endMercy, func() {
		_ = to.Failed(fmt.Sprintf("it was not ready within %s", c.limit))
		os.Exit(exitUnreadable)
	})
	if err := c.collect(ctx, to); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it was not ready within %s", c.limit)
		}
		if err := to.Failed(err.Error()); err != nil {
			return unreadable(err)
		}
	}
	return nil
}

func (c *collector) collect(ctx context.Context, to *wire.Sender) error {
	c.view.what = string(render.Queues)
	f, err := c.view.filter()
	if err != nil {
		return err
	}
	known := new(launch.Finder)
	job, err := cluster.Pick(known, c.pid, c.name)
	if err != nil {
		return err
	}
	if c.lists {
		return cluster.SendList(ctx, job, to)
	}
	g, err := c.newGDB(known)
	if err != nil {
		return err
	}
	defer g.Close()
	if c.again {
		// Half of the time is for reading them.
		running, stop := context.WithTimeout(ctx, c.limit/2)
		cluster.Settle(running, job)
		stop()
	}
	return cluster.Collect(ctx, g, job, to, f)
}

// words are the arguments of a collector that reads with these settings.
func (c *collector) words() []string {
	words := []string{collectName, "--limit", c.limit.String(), "--timeout", c.timeout.String()}
	for _, flag := range []struct{ name, value string }{
		{"--source", c.source}, {"--dll", c.dll}, {"--dll-safe-path", c.safePath}, {"--dll-timeout", c.dllTimeout.String()},
		{"--gdb", c.gdb}, {"--name", c.name}, {"--node", c.node},
		{"--comm", c.view.comm}, {"--queue", c.view.queue}, {"--operations", c.view.limit.String()},
	} {
		if flag.value != "" {
			words = append(words, flag.name, flag.value)
		}
	}
	if c.pid != 0 {
		words = append(words, "--pid", strconv.Itoa(c.pid))
	}
	if c.whileInput {
		words = append(words, "--while-input")
	}
	if c.again {
		words = append(words, "--again")
	}
	if c.lists {
		words = append(words, "--list")
	}
	if c.view.internal {
		words = append(words, "--internal")
	}
	if c.view.stacks {
		words = append(words, "--stacks")
	}
	return words
}
