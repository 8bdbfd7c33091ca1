package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/atomicfile"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/cluster"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/jobs"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/snapshots"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

func reportCommand() *cobra.Command {
	var c report
	cmd := &cobra.Command{
		Use:   "report SNAPSHOT...|PID|--core PROGRAM CORE...",
		Short: "Say who waits for whom in a job, and why it hangs",
		Long: "Looks at all ranks of a job together, and says which of them wait for each other, where,\n" +
			"and which messages miss each other.\n\n" +
			"SNAPSHOT is a JSON file that `mpi-queues dump --json' or gdb's command `mpi-queues -json'\n" +
			"has written, of one rank or of many, on whatever machine; a folder of such files; a\n" +
			"recording; or - for standard input. They make up one job. PID is the job's launcher or\n" +
			"any of its ranks: then gdb is attached to each rank for a moment. A number is a PID,\n" +
			"and a file of that name is ./NUMBER.\n\n" +
			"With --core it takes a program and the core files of its ranks, as a job that has\n" +
			"crashed leaves them.\n\n" +
			"With --stacks there is a tree of all ranks' stacks besides: which ranks are at one place,\n" +
			"and which of them were there in every look. A snapshot in JSON has stacks if `mpi-queues dump\n" +
			"--json --stacks' has written it.\n\n" +
			"Exit status: 0 if a report was made, whatever it says, 1 if nothing could be read, 2 if\n" +
			"the command line is wrong.",
		Example: "  mpi-queues report $(pgrep -x mpirun)\n" +
			"  mpi-queues report --stacks --looks 5 --every 2s 4242\n" +
			"  mpi-queues report --html -o report.html rank-*.json\n" +
			"  mpi-queues report --core ./my-program core.*",
		Args: c.arguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context(), cmd.InOrStdin()) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			if c.isCore {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return []string{"json", "mpiq"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	f := cmd.Flags()
	for i, format := range reportFormats {
		f.BoolVar(&c.formats[i], format.name, false, format.help)
	}
	names := make([]string, len(reportFormats))
	for i, format := range reportFormats {
		names[i] = format.name
	}
	cmd.MarkFlagsMutuallyExclusive(names...)
	f.BoolVar(&c.isCore, "core", false, "the arguments are a program and the core files of its ranks: PROGRAM CORE...")
	f.StringVarP(&c.output, "output", "o", "", "write to `FILE` instead of standard output")
	c.settings.flags(cmd)
	c.nodes.flags(cmd)
	c.looking.flags(cmd)
	return cmd
}

// reportFormats are what a report is written as; the first one if nothing is said.
var reportFormats = [...]struct {
	name, help string
	write      func(io.Writer, *waitfor.Report, render.Style) error
}{
	{"text", "write text (the default)", render.ReportText},
	{"html", "write a page with the picture and a table of all operations", plainly(render.ReportHTML)},
	{"svg", "write the picture of who waits for whom", plainly(render.ReportSVG)},
	{"dot", "write the same graph for Graphviz", plainly(render.ReportDOT)},
	{"json", "write JSON", plainly(document.WriteReport)},
}

func plainly(write func(io.Writer, *waitfor.Report) error) func(io.Writer, *waitfor.Report, render.Style) error {
	return func(w io.Writer, r *waitfor.Report, _ render.Style) error { return write(w, r) }
}

// report is the command and what it was given.
type report struct {
	settings
	nodes
	looking
	formats [len(reportFormats)]bool
	output  string
	isCore  bool
	// pid is the process whose job is meant, 0 if there are files instead. known has looked for the job already, nil
	// if nobody has.
	pid   int
	known *launch.Finder
	files []string
}

// arguments reads the arguments; what is wrong with them is a usage error.
func (c *report) arguments(cmd *cobra.Command, args []string) error {
	err := c.settings.check()
	if err == nil {
		isRunning := c.areAsked() || !c.isCore && slices.ContainsFunc(args, isNumber)
		err = c.looking.check(func(name string) bool { return cmd.Flags().Changed(name) }, isRunning)
	}
	if err != nil {
		return usage(err)
	}
	if c.areAsked() {
		return c.nodes.arguments(args, c.isCore)
	}
	if c.isCore {
		if len(args) < 2 {
			return usage(errors.New("--core takes a program and core files of it: mpi-queues report --core PROGRAM CORE... makes a job of them"))
		}
		c.files = args
		return nil
	}
	if len(args) == 0 {
		return usage(errors.New("a report on what? Name snapshots, or the process id of a launcher or of a rank: mpi-queues report SNAPSHOT...|PID"))
	}
	i := slices.IndexFunc(args, isNumber)
	if i < 0 {
		c.files = args
		return nil
	}
	pid, err := strconv.ParseInt(args[i], 10, 32)
	if err != nil || pid == 0 {
		return usage(fmt.Errorf("%q is not a process id; a file of that name is ./%s", args[i], args[i]))
	}
	if len(args) > 1 {
		return usage(fmt.Errorf("one process is enough: all ranks of its job are found; a file called %s is ./%s", args[i], args[i]))
	}
	c.pid = int(pid)
	return nil
}

// isNumber is true of digits alone: whoever can make a file of such a name in the folder at
// hand must not have it taken for a process.
func isNumber(arg string) bool {
	return arg != "" && strings.Trim(arg, "0123456789") == ""
}

func (c *report) run(ctx context.Context, stdin io.Reader) error {
	launch.Await(ctx, cmp.Or(c.pid, c.of))
	if c.areAsked() {
		return c.acrossNodes(ctx)
	}
	if c.pid > 0 { // what is stopped must go on; reading files may just end
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
	}
	notAsked := ""
	if c.pid > 0 {
		var q *cluster.Question
		if q, notAsked = c.spread(ctx); q != nil {
			return c.ask(ctx, q)
		}
	}
	s, remarks, err := c.read(ctx, stdin)
	switch {
	case notAsked != "" && err != nil:
		err = fmt.Errorf("%w; %s", err, notAsked)
	case notAsked != "":
		remarks = append(remarks, notAsked)
	}
	if ctx.Err() != nil {
		return unreadable(errors.New("interrupted; the processes run on"))
	}
	if err == nil && len(s.Processes) == 0 {
		err = errors.New("there is no process in what was given")
	}
	if err != nil {
		return unreadable(err)
	}
	r, err := c.analyse(ctx, s, remarks)
	if err != nil {
		return unreadable(err)
	}
	if err := c.write(r); err != nil {
		return unreadable(err)
	}
	return nil
}

// analyse makes the report of a first look. A job that runs is looked at again as often as it takes.
func (c *report) analyse(ctx context.Context, s *mqs.Snapshot, remarks []string) (r *waitfor.Report, err error) {
	c.keep(s)
	again := func(ctx context.Context) (*mqs.Snapshot, error) {
		s, _, err := c.attach(ctx)
		return s, err
	}
	if c.pid == 0 {
		// The job stays to the end, and is most of what there is; what the analysis makes is garbage soon.
		debug.SetGCPercent(15)
		r = waitfor.Analyse(s)
	} else {
		r, err = watchJob(ctx, s, again, func(err error) bool { return errors.Is(err, jobs.ErrEnded) })
	}
	if err != nil {
		return nil, err
	}
	r.Notes = append(r.Notes, remarks...)
	if c.pid > 0 {
		c.rest(ctx, func() (*mqs.Snapshot, error) { return again(ctx) })
	}
	if c.stacks {
		r.SetStacks(stacks.MergeLooks(c.seen))
	}
	return r, nil
}

func (c *report) write(r *waitfor.Report) error {
	format := reportFormats[0]
	for i, on := range c.formats {
		if on {
			format = reportFormats[i]
		}
	}
	if c.output == "" {
		return format.write(os.Stdout, r, render.Style{On: isStyled(os.Stdout)})
	}
	return atomicfile.Write(c.output, func(f *os.File) error { return format.write(f, r, render.Style{}) })
}

// read makes one job of all that is named. The remarks say what is not in it.
func (c *report) read(ctx context.Context, stdin io.Reader) (s *mqs.Snapshot, remarks []string, err error) {
	if c.pid > 0 {
		return c.attach(ctx)
	}
	if c.isCore {
		g, err := c.newGDB(new(launch.Finder))
		if err != nil {
			return nil, nil, err
		}
		defer g.Close()
		return jobs.ReadCores(ctx, g, c.files[0], c.files[1:], c.stacks)
	}
	s, err = snapshots.Read(ctx, c.files, stdin, c.stacks)
	return s, nil, err
}

// attach reads the job that a process is in, or has launched, as it is now.
func (c *report) attach(ctx context.Context) (s *mqs.Snapshot, remarks []string, err error) {
	known := c.known
	if c.known = nil; known == nil {
		known = new(launch.Finder)
	}
	job, err := known.Find(c.pid)
	if err != nil {
		return nil, nil, err
	}
	g, err := c.newGDB(known)
	if err != nil {
		return nil, nil, err
	}
	defer g.Close()
	return jobs.ReadRanks(ctx, g, c.pid, job, c.stacks)
}
