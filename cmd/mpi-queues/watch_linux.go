package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/atomicfile"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/cluster"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/hang"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/jobs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// exitHang says that a job hangs. Shells and timeout(1) use the codes from 124 on.
const exitHang = 120

// The defaults of a watch.
const (
	defaultEvery = 30 * time.Second
	defaultAfter = 5 * time.Minute
)

// readerPatience is how long a job that is to be ended stays for whoever reads the report.
const readerPatience = 5 * time.Second

func watchCommand() *cobra.Command {
	var w watching
	cmd := &cobra.Command{
		Use:   "watch [flags] PID|-- COMMAND [ARGUMENT]...",
		Short: "Follow a job, and report on it when it hangs",
		Long: "Starts a job, or follows one that runs, until it ends. When nothing of it has moved for the\n" +
			"time that --hang-after says, or when ranks have been deadlocked for as long, it writes what\n" +
			"`report' says, and the line on the culprit last.\n\n" +
			"A rank moves if it sends, receives or completes something, if it leaves a call that waits or\n" +
			"enters one, if it computes, and if it reads or writes. A job is looked at for a moment from\n" +
			"time to time, and then left alone for 200 times as long as that took, unless there would be\n" +
			"fewer than three looks in the time of --hang-after.\n\n" +
			"With --report there are the files report.txt, report.html, report.json and queues.json, and\n" +
			"a recording of each culprit.\n\n" +
			"COMMAND is a launcher's command line, whose job is started so that its ranks can be looked at\n" +
			"also where ptrace_scope is 1. It is not ended unless --kill says so.\n\n" +
			"Exit status: 120 if the job hangs; else that of COMMAND, or 0 for a PID whose job has ended;\n" +
			"1 if nothing could be read or the watch of a PID was interrupted, 2 if the command line is\n" +
			"wrong. A job hangs under each verdict but `no deadlock'.",
		Example: "  mpi-queues watch --hang-after 10m --report hang --kill -- mpirun -n 4 ./my-program\n" +
			"  mpi-queues watch $(pgrep -x mpirun)",
		Args: w.arguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return w.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // what follows the command is the command's
	f.DurationVar(&w.every, "every", defaultEvery, "look at most once in this `TIME`")
	f.DurationVar(&w.after, "hang-after", defaultAfter, "report when nothing has moved for this `TIME`")
	f.StringVar(&w.folder, "report", "", "write the report into the folder `DIR`, which is made")
	f.BoolVar(&w.kill, "kill", false, "end a job that hangs")
	w.report.settings.flags(cmd)
	w.report.nodes.flags(cmd)
	return cmd
}

// watching is the command and what it was given.
type watching struct {
	report report
	every  time.Duration
	after  time.Duration
	folder string
	kill   bool
	// command is what starts the job, empty if there is a process id.
	command []string
	job     *watchedJob
	// question is for the nodes of a job on several, nil as long as none is known to be.
	question *cluster.Question
}

func (w *watching) arguments(cmd *cobra.Command, args []string) error {
	err := w.report.settings.check()
	if err == nil && w.report.areAsked() {
		err = w.report.checkNodes()
	}
	switch {
	case err != nil:
	case w.every <= 0 || w.after <= 0:
		err = errors.New("--every and --hang-after must be more than nothing: 30s, 5m")
	case cmd.ArgsLenAtDash() == 0 && len(args) > 0:
		w.command = args
		return nil
	case len(args) != 1 || !isNumber(args[0]):
		err = errors.New("what is to be watched? Name the process id of a launcher or of a rank, or what starts the job: mpi-queues watch PID|-- COMMAND")
	default:
		var pid int64
		if pid, err = strconv.ParseInt(args[0], 10, 32); err != nil || pid == 0 {
			err = fmt.Errorf("%q is not a process id", args[0])
		}
		w.report.pid = int(pid)
	}
	var exit *exitError
	if err == nil || errors.As(err, &exit) {
		return err
	}
	return usage(err)
}

func (w *watching) run(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// With a handler for SIGPIPE, a write that nobody reads any more fails instead of ending this program. Unlike an ignored
	// signal, the handler is not inherited by COMMAND.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// What would make each look fail is said at once.
	g, err := w.report.newGDB(new(launch.Finder))
	if err != nil {
		return unreadable(err)
	}
	g.Close()
	if w.folder != "" {
		if _, err = atomicfile.Folder(w.folder); err != nil {
			return unreadable(fmt.Errorf("the report's folder can't be used: %w", err))
		}
	}
	if len(w.command) > 0 {
		w.job, err = startWatched(ctx, w.command)
	} else {
		w.job, err = findWatched(ctx, w.report.pid)
	}
	if err != nil {
		return orUnreadable(err)
	}
	defer w.job.close()
	w.report.pid, w.report.of = w.job.pid, w.job.pid
	watched, end := context.WithCancel(ctx)
	go func() { // a job that ends needs no more looks
		select {
		case <-w.job.ended:
			end()
		case <-watched.Done():
		}
	}()
	r, err := w.follow(watched)
	end()
	switch {
	case ctx.Err() != nil:
		return w.job.interrupted()
	case errors.Is(err, hang.ErrEnded) || errors.Is(err, context.Canceled):
		return w.job.end()
	case err != nil:
		return w.abandon(ctx, err)
	}
	return w.conclude(ctx, r)
}

// follow watches the job until it ends or hangs.
func (w *watching) follow(ctx context.Context) (*waitfor.Report, error) {
	looks := &hang.Watch{Every: w.every, After: w.after, Look: w.look, Confirm: w.confirm, Transferred: w.transferred}
	looks.Runs = w.job.cmd == nil
	looks.Told = func(err error) { go complain(fmt.Errorf("the job can't be looked at now: %w", err)) } // it may have no reader
	looks.HeldUp = func(why string) {
		go complain(fmt.Errorf("no rank that waits in MPI has moved for %v, and the watch goes on, because a rank outside MPI is still active: %s", w.after, why))
	}
	return looks.Run(ctx)
}

// abandon ends a watch that can't go on. A job that was started here still has this command's place in its script, so its end
// is waited for.
func (w *watching) abandon(ctx context.Context, err error) error {
	if w.job.cmd == nil {
		return unreadable(err)
	}
	go complain(fmt.Errorf("%w; the job runs on", err))
	select {
	case <-w.job.ended:
		return w.job.end()
	case <-ctx.Done():
		return w.job.interrupted()
	}
}

// transferred is what a rank of this machine has read and written.
func (w *watching) transferred(pid int) (uint64, error) {
	if w.question != nil {
		return 0, errors.New("it may be on another machine, where its number means another process")
	}
	return procfs.Host.Transferred(pid)
}

// nodes is what to ask the nodes of a job on several; nil if it is on this machine alone. Looks are compared, so that all
// come of one question: it gives the ranks their numbers.
func (w *watching) nodes(ctx context.Context) (*cluster.Question, error) {
	if w.question != nil {
		w.question.Retry()
		return w.question, nil
	}
	if !w.report.areAsked() {
		w.question, _ = w.report.spread(ctx)
		return w.question, nil
	}
	var err error
	w.question, err = w.report.question(ctx, w.report.settings, view{internal: true}, w.report.pid)
	return w.question, err
}

// look reads all ranks as they are now.
func (w *watching) look(ctx context.Context) (liveness.Look, error) {
	q, err := w.nodes(ctx)
	if err != nil {
		return liveness.Look{}, err
	}
	if q != nil {
		a, err := q.Ask(ctx)
		if err != nil {
			return liveness.Look{}, err
		}
		return a.Look, nil
	}
	s, _, err := w.report.attach(ctx)
	return liveness.Look{Snapshot: s}, ended(err)
}

// confirm makes the report, with the stacks of one look.
func (w *watching) confirm(ctx context.Context) (*waitfor.Report, error) {
	q, err := w.nodes(ctx)
	if err != nil {
		return nil, err
	}
	w.report.stacks, w.report.looks, w.report.seen = true, 1, nil
	defer func() { w.report.stacks = false }()
	if q != nil {
		q.Stacks = true
		defer func() { q.Stacks = false }()
		return reportOf(ctx, q, &w.report.looking)
	}
	s, remarks, err := w.report.attach(ctx)
	if err != nil {
		return nil, ended(err)
	}
	r, err := w.report.analyse(ctx, s, remarks)
	return r, ended(err)
}

// ended tells the watch of a job that is over.
func ended(err error) error {
	if errors.Is(err, jobs.ErrEnded) {
		return hang.ErrEnded
	}
	return err
}

// conclude reports on a job that hangs, and ends the job if it is to be ended, also if nobody reads the report any more.
func (w *watching) conclude(ctx context.Context, r *waitfor.Report) error {
	var text bytes.Buffer
	err := render.ReportText(&text, r, render.Style{On: isStyled(os.Stdout)})
	var writeErr error
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		complain(errors.New("the job hangs"))
		_, writeErr = os.Stdout.Write(text.Bytes())
	}()
	if w.folder != "" {
		err = errors.Join(err, w.writeAll(ctx, r))
	}
	if w.kill {
		select {
		case <-shown:
		case <-ctx.Done():
		case <-time.After(readerPatience):
		}
	}
	if ctx.Err() != nil {
		return w.job.interrupted()
	}
	var killErr error
	if w.kill {
		killErr = w.job.kill()
	}
	// What is left is output, which waits for its reader, so signals end this program again.
	signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	<-shown
	if err = errors.Join(err, writeErr); err != nil {
		complain(err)
	}
	switch {
	case killErr != nil:
		complain(killErr)
	case w.kill:
		fmt.Fprintln(os.Stderr, "mpi-queues: the job is ended")
	}
	fmt.Println()
	fmt.Println("Culprit:", render.Culprit(r))
	return &exitError{code: exitHang}
}

// culprits are the processes of this machine that a report blames: at most a few.
func (w *watching) culprits(r *waitfor.Report) []*waitfor.Rank {
	const most = 8
	var ranks []int32
	for _, n := range r.NearMisses {
		ranks = append(ranks, n.Culprits...)
	}
	for _, n := range r.NearMisses {
		ranks = append(ranks, n.Ranks...)
	}
	for _, d := range r.Deadlocks {
		for _, wait := range d.Cycle {
			ranks = append(ranks, wait.Rank)
		}
	}
	var out []*waitfor.Rank
	for _, number := range ranks {
		at := slices.IndexFunc(r.Ranks, func(rank waitfor.Rank) bool { return rank.Rank == number })
		if at >= 0 && len(out) < most && !slices.Contains(out, &r.Ranks[at]) {
			out = append(out, &r.Ranks[at])
		}
	}
	return out
}

// findWatched finds the job of a process.
func findWatched(ctx context.Context, pid int) (*watchedJob, error) {
	launch.Await(ctx, pid)
	if _, err := new(launch.Finder).Find(pid); err != nil {
		return nil, err
	}
	return newWatched(pid), nil
}
