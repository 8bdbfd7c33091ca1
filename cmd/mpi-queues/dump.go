package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/atomicfile"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/jobs"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

func dumpCommand() *cobra.Command {
	var d dump
	cmd := &cobra.Command{
		Use:   "dump PID...",
		Short: "Show the queues of running processes, of a whole job, or of core files",
		Long: "Attaches gdb to each process for a moment, reads its message queues and shows them all\n" +
			"in one report. The processes run on afterwards.\n\n" +
			"The process id of a launcher (mpirun, mpiexec, srun) stands for all ranks of its job on\n" +
			"this machine; with --job, that of a rank does too.\n\n" +
			"With --core it takes a program and core files of it instead.\n\n" +
			"Exit status: 0 if at least one process was shown, 1 if none could be read, 2 if the\n" +
			"command line is wrong. A process that can't be read has its reason in the report.",
		Example: "  mpi-queues dump $(pgrep -n mpirun)\n" +
			"  mpi-queues dump $(pgrep -x my-program)\n" +
			"  mpi-queues dump --json --output queues.json 4242 4243\n" +
			"  mpi-queues dump --core ./my-program core.4242",
		Args: d.arguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			if d.isCore {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	d.view.flags(cmd)
	d.settings.flags(cmd)
	d.nodes.flags(cmd)
	cmd.Flags().BoolVar(&d.isCore, "core", false, "the arguments are a program and core files of it: PROGRAM CORE...")
	cmd.Flags().BoolVar(&d.stacks, "stacks", false, "with --json: write the stacks of all threads too, for `report --stacks'")
	cmd.Flags().BoolVar(&d.isJob, "job", false, "show the whole job that a process is in, as far as it is on this machine")
	return cmd
}

// dump is the command and what it was given.
type dump struct {
	view
	settings
	nodes
	isCore bool
	isJob  bool
	// pids are the process ids of the command line.
	pids []int
	// asked are what to read, in the order of the report.
	asked []jobs.Inquiry
	// remarks are sentences on what is not in the report.
	remarks []string
}

// arguments reads the arguments; what is wrong with them is a usage error.
func (d *dump) arguments(_ *cobra.Command, args []string) error {
	if err := d.check(); err != nil {
		return usage(err)
	}
	switch {
	case d.stacks && !d.json:
		return usage(errors.New("tables have no stacks: --stacks goes with --json"))
	case d.areAsked():
		return d.nodes.arguments(args, d.isCore)
	case d.isCore && d.isJob:
		return usage(errors.New("--core and --job do not go together: a core file is of one process"))
	case d.isCore && len(args) < 2:
		return usage(errors.New("--core takes a program and core files of it: mpi-queues dump --core PROGRAM CORE... shows them"))
	case d.isCore:
		d.asked = jobs.Cores(args[0], args[1:])
		return nil
	case len(args) == 0:
		return usage(errors.New("which processes? Name their ids: mpi-queues dump PID..., or a core file: mpi-queues dump --core PROGRAM CORE... shows them"))
	}
	for _, arg := range args {
		pid, err := strconv.ParseInt(arg, 10, 32)
		if err != nil || pid <= 0 {
			return usage(fmt.Errorf("%q is not a process id", arg))
		}
		if slices.Contains(d.pids, int(pid)) {
			return usage(fmt.Errorf("process %d is named twice", pid))
		}
		d.pids = append(d.pids, int(pid))
	}
	return nil
}

func (d *dump) run(ctx context.Context) error {
	f, err := d.filter()
	if err != nil {
		return usage(err)
	}
	// It ends soon, and many processes leave much garbage.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	for _, pid := range append(d.pids, d.of) {
		launch.Await(ctx, pid)
	}
	if d.areAsked() {
		return d.acrossNodes(ctx)
	}
	known := new(launch.Finder)
	if !d.isCore {
		d.asked, d.remarks = jobs.Resolve(known, d.pids, d.isJob)
	}
	s, err := d.read(ctx, known, f)
	if ctx.Err() != nil {
		return unreadable(errors.New("interrupted; the processes run on"))
	}
	if err != nil {
		return unreadable(err)
	}
	return d.report(s)
}

// read reads all that is asked for. No gdb is needed if there is nothing for it to look at.
func (d *dump) read(ctx context.Context, known *launch.Finder, f read.Filter) (*mqs.Snapshot, error) {
	if !slices.ContainsFunc(d.asked, func(i jobs.Inquiry) bool { return i.NeedsGDB() }) {
		return jobs.Read(ctx, nil, d.asked, f)
	}
	g, err := d.newGDB(known)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	return jobs.Read(ctx, g, d.asked, f)
}

// report shows the snapshot. If nothing could be read, the reasons are errors,
// and only JSON holds them too.
func (d *dump) report(s *mqs.Snapshot) error {
	var reasons []string
	failed := true
	for k, p := range s.Processes {
		failed = failed && p.Unavailable != ""
		if p.Unavailable != "" && d.asked[k].IsHere() && !slices.Contains(reasons, p.Unavailable) {
			reasons = append(reasons, p.Unavailable)
		}
	}
	var err error
	switch {
	case d.json:
		err = d.show(s)
	case !failed:
		err = d.tables(s)
	}
	if err != nil {
		return unreadable(err)
	}
	if !failed {
		return nil
	}
	return unreadable(errors.New(strings.Join(append(reasons, d.remarks...), "\nmpi-queues: ")))
}

// tables shows the snapshot as text, and the remarks in place of the processes of
// other machines, each of which says the same.
func (d *dump) tables(s *mqs.Snapshot) error {
	here := &mqs.Snapshot{}
	for k, p := range s.Processes {
		if d.asked[k].IsHere() {
			here.Processes = append(here.Processes, p)
		}
	}
	fill := func(f *os.File, styled bool) error {
		err := d.write(f, here, styled)
		for _, r := range d.remarks {
			_, printErr := fmt.Fprintf(f, "\n%s.\n", printable.Text(r))
			err = errors.Join(err, printErr)
		}
		return err
	}
	return d.fill(fill)
}

// fill has text written where the user wants it.
func (d *dump) fill(fill func(f *os.File, styled bool) error) error {
	if d.output == "" {
		return fill(os.Stdout, isStyled(os.Stdout))
	}
	return atomicfile.Write(d.output, func(f *os.File) error { return fill(f, false) })
}
