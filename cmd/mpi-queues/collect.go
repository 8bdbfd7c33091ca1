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
	view       view
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
	c.settings.flags(cmd)
	f := cmd.Flags()
	f.IntVar(&c.pid, "pid", 0, "a rank of the job on this node")
	f.StringVar(&c.name, "name", "", "what the environment of the job's ranks calls it")
	f.StringVar(&c.node, "node", "", "what this node is called")
	f.DurationVar(&c.limit, "limit", time.Minute, "how long this may take")
	f.BoolVar(&c.whileInput, "while-input", false, "end when standard input does")
	f.StringVar(&c.view.comm, "comm", "", "only this communicator")
	f.StringVar(&c.view.queue, "queue", "", "only this queue")
	f.Var(&c.view.limit, "operations", "at most so many operations of a queue")
	f.BoolVar(&c.view.internal, "internal", false, "with the MPI library's own messages")
	c.view.json = true
	return cmd
}

func (c *collector) run(ctx context.Context) error {
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
	const mercy = 3 * time.Second
	time.AfterFunc(c.limit+mercy, func() {
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
	g, err := c.newGDB(known)
	if err != nil {
		return err
	}
	defer g.Close()
	return cluster.Collect(ctx, g, job, to, f)
}

// words are the command line of a collector that reads with these settings.
func (c *collector) words(program string) []string {
	words := []string{program, collectName, "--limit", c.limit.String(), "--timeout", c.timeout.String()}
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
	if c.view.internal {
		words = append(words, "--internal")
	}
	return words
}
