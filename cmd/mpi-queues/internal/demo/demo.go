// Package demo tells the story of a small MPI program that hangs: it runs the program and looks at it
// through gdb or, where that can't be done, shows a recording of it.
package demo

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// Program is the C source of the program.
//
//go:embed program/deadlock.c
var Program []byte

// Recording is of all ranks of that program; how it is made is in the tests of the command.
//
//go:embed program/deadlock.mpiq
var Recording []byte

// Ranks is how many there are.
const Ranks = 3

// Run tells the story on out, marked up if styled. With recording it shows the recording at once.
// version is this program's.
func Run(ctx context.Context, out io.Writer, styled, recording bool, version string) error {
	d := &demo{out: out, styled: styled, version: version}
	return d.run(ctx, recording)
}

// demo tells a story in numbered steps.
type demo struct {
	out     io.Writer
	styled  bool
	version string
	steps   int
}

func (d *demo) run(ctx context.Context, recording bool) error {
	d.say("A halo exchange on three MPI ranks hangs. Why?\n")
	var s *mqs.Snapshot
	var err error
	if !recording {
		if s, err = d.live(ctx); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err != nil {
		d.say("\nThat did not work here: %s.\nSo here is a recording of the same program instead.\n", strings.TrimSuffix(err.Error(), "."))
	}
	if s == nil {
		if s, err = d.recorded(ctx); err != nil {
			return err
		}
	}
	d.step("Why it hangs")
	d.say("\n")
	if err := render.ReportText(d.out, waitfor.Analyse(s), render.Style{On: d.styled}); err != nil {
		return err
	}
	d.say("\n%s\n%s", d.bold("Your own program"), demoNext)
	return nil
}

const demoNext = `  go install github.com/mpi-queues/mpi-queues/cmd/mpi-queues@latest
  init=$(mpi-queues gdbinit) && echo "source $init" >> ~/.gdbinit

  gdb -p PID                 and in gdb: mpi-queues
  mpi-queues dump PID...     the queues of several ranks, or of mpirun's all
  mpi-queues report PID      why the job hangs
`

// live runs the program and returns what gdb saw of it.
func (d *demo) live(ctx context.Context) (*mqs.Snapshot, error) {
	d.step("What it takes: gdb, Open MPI and a C compiler")
	tools, err := d.provide(ctx)
	if err != nil {
		return nil, err
	}
	d.say("  %s\n  %s\n  %s\n", tools.gdb, tools.mpicc, tools.mpirun)
	g, err := gdbrun.New(tools.gdb, d.version, gdbPatience, gdbrun.Settings{Choice: read.Auto, DLLTimeout: gdbrun.DLLTimeout}, new(launch.Finder))
	if err != nil {
		return nil, err
	}
	defer g.Close()

	folder := filepath.Join(g.Folder(), "demo")
	program := filepath.Join(folder, "deadlock")
	d.step("Compiling the program, deadlock.c")
	if err := tools.Compile(ctx, program, Program); err != nil {
		return nil, err
	}
	d.command("%s -g -o deadlock deadlock.c", filepath.Base(tools.mpicc))

	d.step("Starting it")
	d.command("%s -n %d deadlock", filepath.Base(tools.mpirun), Ranks)
	j, err := tools.Start(ctx, program, Ranks)
	if err != nil {
		return nil, err
	}
	defer j.Stop()
	d.say("  Its ranks are the processes %s.\n", join(j.PIDs))

	d.step("Looking at each of them in gdb")
	for _, pid := range j.PIDs {
		d.command("%s -p %d -ex 'source %s' -ex mpi-queues", filepath.Base(tools.gdb), pid, g.Init())
	}
	s, err := j.hang(ctx, g)
	if err != nil {
		return nil, err
	}
	return s, d.tables(s)
}

// recorded shows the recording.
func (d *demo) recorded(ctx context.Context) (*mqs.Snapshot, error) {
	r, err := recording.Read(bytes.NewReader(Recording), int64(len(Recording)))
	if err != nil {
		return nil, err
	}
	s, err := r.Read(ctx, decoders.All, read.Filter{})
	if err != nil {
		return nil, err
	}
	d.step("A recording of its three ranks")
	return s, d.tables(s)
}

func (d *demo) tables(s *mqs.Snapshot) error {
	d.say("\n")
	return render.Text(d.out, s, render.Style{On: d.styled})
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

func (d *demo) step(title string) {
	d.steps++
	d.say("\n%s\n", d.bold(fmt.Sprintf("%d. %s", d.steps, title)))
}

// command shows what a user would type for what is done.
func (d *demo) command(format string, args ...any) { d.say("  $ "+format+"\n", args...) }

func (d *demo) bold(text string) string {
	if !d.styled {
		return text
	}
	return "\x1b[1m" + text + "\x1b[m"
}

// join lists numbers in a sentence: "1, 2 and 3".
func join[T any](items []T) string {
	var b strings.Builder
	for i, item := range items {
		switch {
		case i > 0 && i == len(items)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, item)
	}
	return b.String()
}
