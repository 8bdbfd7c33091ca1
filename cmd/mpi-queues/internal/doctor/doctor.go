// Package doctor finds out what can be done on this machine: with its gdb, and with one process and its job.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/child"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/jobs"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// State says how well something works.
type State string

// The states.
const (
	Works State = "ok"
	// Partly means that something is missing that the user may not need, or is unknown.
	Partly State = "!"
	Fails  State = "no"
)

// Finding is the result of one check.
type Finding struct {
	State State
	// Name is what was checked, in one word.
	Name string
	// Text is what was found and, if it does not work, what to do.
	Text string
}

// Write writes findings, one below the other. Further lines of a text are indented to its column.
func Write(w io.Writer, findings ...Finding) error {
	var b strings.Builder
	for _, f := range findings {
		text := strings.ReplaceAll(printable.Text(f.Text), "\n", "\n"+strings.Repeat(" ", 15))
		fmt.Fprintf(&b, "%-3s %-10s %s\n", f.State, f.Name, text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// HasFailed reports whether something does not work at all.
func HasFailed(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.State == Fails })
}

// maxSaid is how many bytes are kept of what a gdb says.
const maxSaid = 4096

// GDB checks whether a gdb runs and has Python. It has to answer within the timeout.
func GDB(ctx context.Context, path string, timeout time.Duration) Finding {
	within, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	const mark = "mpi-queues: "
	cmd := exec.CommandContext(within, path, "-nx", "-batch", "-iex", "set auto-load no",
		"-ex", `python import sys; print("`+mark+`gdb %s with Python %s" % (gdb.VERSION, sys.version.split()[0]))`)
	cmd.SysProcAttr = child.OwnSession()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out, errs start
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	for line := range strings.Lines(string(out)) {
		if version, is := strings.CutPrefix(strings.TrimSpace(line), mark); is && err == nil {
			return Finding{Works, "gdb", fmt.Sprintf("%s is %s", path, version)}
		}
	}
	why, _, _ := strings.Cut(strings.TrimSpace(string(errs)+"\n"+string(out)), "\n")
	switch {
	case within.Err() != nil && ctx.Err() == nil:
		why = fmt.Sprintf("did not say its version within %s", timeout)
	case why == "" && err != nil:
		why = fmt.Sprintf("can't be run (%v)", err)
	case why == "":
		why = "said nothing"
	default:
		why = fmt.Sprintf("has no Python, or is no gdb (%s)", printable.Line(why))
	}
	return Finding{Fails, "gdb", fmt.Sprintf("%s %s: use a gdb that was built with Python, and name it with --gdb PATH", path, why)}
}

// start keeps the first maxSaid bytes of what a program writes.
type start []byte

func (s *start) Write(b []byte) (int, error) {
	*s = append(*s, b[:min(len(b), maxSaid-len(*s))]...)
	return len(b), nil
}

// Attach checks whether a gdb may attach to processes of this user, with a process that is started for that.
func Attach(ctx context.Context, g jobs.GDB) Finding {
	const name = "attach"
	cmd := exec.CommandContext(ctx, "cat") // which ends when this program does
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return Finding{Partly, name, fmt.Sprintf("not tried, since no process could be started (%v)", err)}
	}
	defer func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}()
	before, err := tracee.Read(cmd.Process.Pid)
	if err != nil {
		return Finding{Partly, name, fmt.Sprintf("not tried: %v", err)}
	}
	t := &once{before: before}
	if err := g.ReadInTurn(ctx, read.Filter{}, 1, t); err != nil {
		t.err = err
	}
	err = t.err // the expected one: if gdb has attached, it finds no MPI
	var refused *gdbrun.AttachError
	var unreadable *read.UnreadableError
	switch {
	case errors.As(err, &refused):
		return Finding{Fails, name, tracee.Refused(before.PID, refused.Reason).Error()}
	case !errors.As(err, &unreadable):
		return Finding{Fails, name, fmt.Sprintf("gdb could not read a process that was started for this: %v", err)}
	}
	return Finding{Works, name, "gdb may attach to your processes, and reads them"}
}

// once gives a gdb one process.
type once struct {
	before tracee.State
	given  bool
	err    error
}

func (o *once) Next() (tracee.State, bool) {
	is := !o.given
	o.given = true
	return o.before, is
}

func (o *once) Done(_ *mqs.Snapshot, err error) { o.err = err }

// Tools checks which programs reach other machines.
func Tools() Finding {
	var found []string
	for _, program := range []string{"ssh", "srun"} {
		if _, err := exec.LookPath(program); err == nil {
			found = append(found, program)
		}
	}
	if len(found) == 0 {
		return Finding{Partly, "nodes", "neither ssh nor srun is in the folders of PATH: ranks on other machines can be reached with --via COMMAND only"}
	}
	return Finding{Works, "nodes", "ranks on other machines are reached with " + strings.Join(found, " or ")}
}

// Job checks the job that a process belongs to. target is the process to read: pid if it is a rank or, without a job, may use MPI; else the
// job's first rank on this machine; 0 if there is none.
func Job(f *launch.Finder, pid int) (findings []Finding, target int) {
	const name = "job"
	job, err := f.Find(pid)
	if err != nil {
		if !tracee.HasEnded(pid) && !tracee.LacksMPI(pid) {
			target = pid
		}
		return []Finding{{Fails, name, err.Error()}}, target
	}
	here := 0
	for _, r := range job.Ranks {
		if r.IsHere() {
			if here++; target == 0 {
				target = r.PID
			}
		}
	}
	if job.Self != nil && job.Self.IsHere() {
		target = job.Self.PID
	}
	launcher := "started without a launcher"
	if job.Launcher != 0 {
		launcher = fmt.Sprintf("started by %s (process %d)", printable.Line(job.Name), job.Launcher)
		if job.Software != "" {
			launcher = fmt.Sprintf("started by %s (process %d, of %s)", printable.Line(job.Name), job.Launcher, job.Software)
		}
	}
	size := "an unknown number of ranks"
	if job.Size.Known {
		size = fmt.Sprintf("%d ranks", job.Size.Value)
		if job.Size.Value == 1 {
			size = "1 rank"
		}
	}
	state := Works
	if here == 0 {
		state = Partly
	}
	on := fmt.Sprintf("%d of them on this machine", here)
	if job.Size.Known && here == int(job.Size.Value) {
		on = "all on this machine"
	}
	findings = append(findings, Finding{state, name, fmt.Sprintf("%s, %s, %s", launcher, size, on)})
	for _, missing := range jobs.Missing(job, true) {
		findings = append(findings, Finding{Partly, name, missing})
	}
	return findings, target
}

// Process reads a process, and reports how it was read and what remains unknown. Its errors are those of [jobs.Read].
func Process(ctx context.Context, g jobs.GDB, pid int) ([]Finding, error) {
	s, err := jobs.Read(ctx, g, []jobs.Inquiry{jobs.Process(pid)}, read.Filter{Internal: true})
	if err != nil {
		return nil, err
	}
	return describe(s.Processes[0]), nil
}

// describe says what is known of a process that was read.
func describe(p *mqs.Process) []Finding {
	of := fmt.Sprintf("process %d", p.PID)
	if p.Image != "" {
		of += " (" + printable.Line(filepath.Base(p.Image)) + ")"
	}
	if p.GlobalRank.Known {
		of = fmt.Sprintf("rank %d, %s", p.GlobalRank.Value, of)
	}
	if p.Unavailable != "" {
		return []Finding{{Fails, "queues", of + ": " + p.Unavailable}}
	}
	findings := []Finding{{Works, "process", of}}
	if p.State == mqs.Stopped {
		findings[0] = Finding{Partly, "process", fmt.Sprintf("%s, which is stopped by a signal: `kill -CONT %d' lets it go on", of, p.PID)}
	}
	if mpi := strings.TrimSpace(p.MPI + " " + p.MPIVersion); mpi != "" {
		if p.Library != "" {
			mpi += ", " + p.Library
		}
		findings = append(findings, Finding{Works, "MPI", printable.Line(mpi)})
	}
	switch {
	case p.Source == "dll":
		findings = append(findings, Finding{Works, "queues", "read by the vendor's DLL " + printable.Line(p.DLL)})
	case p.Layout == "dwarf":
		findings = append(findings, Finding{Works, "queues", "read by the library's debug information"})
	case p.Layout == "table":
		findings = append(findings, Finding{Works, "queues", "read by the embedded table of " + p.LayoutName + ", checked against this process"})
	}
	if p.Transport != "" {
		findings = append(findings, Finding{Works, "transport", transportText(p)})
	}
	var unknown []string
	add := func(text string) {
		if text != "" && !slices.Contains(unknown, text) {
			unknown = append(unknown, text)
		}
	}
	for _, note := range p.Notes {
		add(note)
	}
	for _, c := range p.Communicators {
		for _, class := range mqs.OpClasses {
			if q := c.Queue[class]; q != nil && q.Unavailable != "" {
				add(fmt.Sprintf("the %s of %s: %s", class.Words(), c.Label(), q.Unavailable))
			}
		}
	}
	const most = 8
	for i, text := range unknown {
		if i == most {
			findings = append(findings, Finding{Partly, "unknown", fmt.Sprintf("and %d more: `mpi-queues dump %d' shows them", len(unknown)-most, p.PID)})
			break
		}
		findings = append(findings, Finding{Partly, "unknown", text})
	}
	return findings
}

func transportText(p *mqs.Process) string {
	if slices.ContainsFunc(p.Communicators, func(q *mqs.Queues) bool { return q.Traffic != nil }) {
		return p.Transport + ", which counts messages, so a report can prove that none is in transit"
	}
	return p.Transport + ", which does not count messages, so a report needs two samples to rule out messages in transit"
}
