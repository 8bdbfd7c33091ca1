package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/procmem"
)

// List is what a debugger on another machine needs to attach to the ranks of a node.
type List struct {
	// Size is how many ranks the job has.
	Size mqs.Maybe[int32] `json:"size"`
	// Server is true if gdbserver is in a folder of PATH.
	Server bool   `json:"server"`
	Seats  []Seat `json:"seats"`
	// Images are the build ids of what processes execute code of, of each set one: in hex, in order. A file without
	// one has an empty one.
	Images [][]string `json:"images"`
}

// Seat is a rank on a node.
type Seat struct {
	Rank       mqs.Maybe[int32] `json:"rank"`
	PID        int              `json:"pid"`
	Executable string           `json:"executable"`
	// Obstacle is why no debugger can attach to it, as a clause, or empty.
	Obstacle string `json:"obstacle"`
	// Image is its place among the images.
	Image int `json:"image"`
}

// The most that a list has: of ranks and of files in all, and of characters in a text.
const (
	maxSeats = 1 << 16
	maxFiles = 1 << 18
	maxText  = 4096
	maxID    = 2 * 4096 // digits of a build id
)

// isSane is false of a list that no honest node has sent.
func (l *List) isSane() bool {
	files := 0
	for _, ids := range l.Images {
		files += len(ids)
		if slices.ContainsFunc(ids, func(id string) bool { return len(id) > maxID }) {
			return false
		}
	}
	return len(l.Seats) <= maxSeats && len(l.Images) <= maxSeats && files <= maxFiles &&
		!slices.ContainsFunc(l.Seats, func(s Seat) bool { return len(s.Executable) > maxText || len(s.Obstacle) > maxText })
}

// SendList lists the ranks of a job that are on this node.
func SendList(ctx context.Context, job *launch.Job, to *wire.Sender) error {
	list := &List{Size: job.Size, Seats: []Seat{}, Images: [][]string{}}
	_, err := exec.LookPath(server)
	list.Server = err == nil
	var pids []int
	for _, r := range job.Ranks {
		if r.IsHere() {
			pids = append(pids, r.PID)
		}
	}
	held := tracee.Held(ctx, pids...)
	files := map[string]string{}
	for _, r := range job.Ranks {
		if r.Host != "" || r.Exited {
			continue
		}
		seat := Seat{Rank: r.Number, PID: r.PID, Executable: r.Executable, Obstacle: r.Obstacle}
		if seat.Obstacle == "" {
			seat.Obstacle = untraceable(r.PID)
		}
		if e := held[r.PID]; seat.Obstacle == "" && e != nil {
			seat.Obstacle = e.Error()
		}
		image := imageOf(r.PID, files)
		seat.Image = slices.IndexFunc(list.Images, func(other []string) bool { return slices.Equal(other, image) })
		if seat.Image < 0 {
			seat.Image = len(list.Images)
			list.Images = append(list.Images, image)
		}
		list.Seats = append(list.Seats, seat)
	}
	if len(list.Seats) == 0 {
		return errors.New("no rank of the job is there")
	}
	h := header{Names: job.Names, List: list}
	return to.Document(func(w io.Writer) error { return h.write(w, &mqs.Snapshot{}) })
}

// untraceable says why a process can't be attached to, as far as the kernel tells without its being tried: gdbserver
// ends, and lets go of all that it has, if it fails. For a process's memory the kernel asks what it asks for a
// debugger (proc(5), ptrace(2)).
func untraceable(pid int) string {
	if status, err := os.ReadFile(procfs.Host.Path(pid, "status")); err == nil {
		for line := range bytes.Lines(status) {
			if tracer, is := strings.CutPrefix(strings.TrimSpace(string(line)), "TracerPid:"); is && strings.TrimSpace(tracer) != "0" {
				return fmt.Sprintf("process %d is being debugged by process %s there", pid, strings.TrimSpace(tracer))
			}
		}
	}
	memory, err := os.Open(procfs.Host.Path(pid, "mem"))
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return fmt.Sprintf("the kernel there lets nobody trace process %d (ptrace: %v)", pid, err)
	}
	_ = memory.Close()
	return ""
}

// imageOf are the build ids of the files that a process executes code of, in order. files has those that were read.
func imageOf(pid int, files map[string]string) []string {
	ids := []string{}
	seen := map[string]bool{}
	for m, err := range procfs.Host.Mappings(pid) {
		if err != nil {
			return append(ids[:0], "") // it is not known what else there is
		}
		if !m.IsCode || m.File == "" || seen[m.File] {
			continue
		}
		seen[m.File] = true
		id, known := files[m.File]
		if !known {
			id = procmem.BuildID(procfs.Host.Path(pid, "map_files", fmt.Sprintf("%x-%x", m.Start, m.End)))
			if id == "" && !strings.HasSuffix(m.Path, procfs.Deleted) { // to follow that link takes more rights
				id = procmem.BuildID(procfs.Host.Path(pid, "root") + m.Path)
			}
			files[m.File] = id
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Listed is what a host has answered.
type Listed struct {
	Host string
	*List
	// Failure is why there is no list, as a clause.
	Failure string
}

// Lists asks the hosts for the ranks of the job that they have. This machine is not among them.
func (q *Question) Lists(ctx context.Context) ([]Listed, error) {
	replies, err := q.replies(ctx)
	if err != nil {
		return nil, err
	}
	of, err := q.admit(replies)
	if err != nil {
		return nil, err
	}
	var out []Listed
	for _, one := range of.replies {
		switch {
		case one.machine != "" && one.machine == Machine():
		case one.part.List == nil || !one.part.List.isSane():
			out = append(out, Listed{Host: one.host, Failure: "it has sent no list of its ranks"})
		default:
			out = append(out, Listed{Host: one.host, List: one.part.List})
		}
	}
	for _, reason := range of.order {
		for _, host := range of.reasons[reason] {
			out = append(out, Listed{Host: host, Failure: strings.TrimSuffix(reason, ".")})
		}
	}
	return out, nil
}
