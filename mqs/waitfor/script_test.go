package waitfor

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// A script describes a made-up job. The files testdata/scripts/*.txtar hold the scripts by topic: a section named after the
// case, followed by a section "report" with everything that is reported of the job. For example:
//
//	-- a message with another tag --
//	ranks 3
//	comm halo 0-1
//	rank 0: recv halo from 1 tag 7 in MPI_Recv
//	rank 1: send halo to 0 tag 8 arrived in MPI_Send line 11
//	rank 2: irecv world from any tag any as a; irecv world from 1 tag 7 as b; in MPI_Waitall for a,b line 12
//	sample 2 ran 0,2
//	rank 2: computes
//	-- report --
//	…
//
// "go test ./mqs/waitfor -run TestScripts/nearmisses/another_tag" runs one case; -update writes the reports.
//
// A script starts with "ranks N": N processes inside MPI that count their messages, have no threads, and whose only
// communicator, world, has empty queues. The other lines change that. A line that starts with # is a comment.
//
//	comm NAME RANKS [FIELD VALUE]…    a communicator. The order of RANKS is that of its members
//	intercomm NAME RANKS RANKS        an intercommunicator of two groups
//	window NAME…                      windows of all ranks, each with the library's communicator for it
//	rank N: STATEMENT; STATEMENT…     what rank N does; also "ranks 0-2: …" and "all: …"
//	sample N [ran RANKS] [new RANKS]  the lines that follow describe sample N. The ranks that ran have used processor time
//	                                  since the previous sample; those that are new were not in it. Fields of Past may
//	                                  follow: again, apart, settled. A rank described in this sample is described from
//	                                  scratch; the others are unchanged
//
// The statements:
//
//	KIND COMM from RANK tag TAG       a posted receive; KIND is recv, irecv, …, or request if it is unknown
//	KIND COMM to RANK tag TAG         a pending send; with "arrived" its message is in the receiver's unexpected queue
//	message COMM from RANK tag TAG    an unexpected message
//	in CALL [for REQUESTS]            a thread in an MPI call; at the end of an operation, the call that waits for it
//	computes                          a thread outside MPI, in function compute, line 99
//	thread                            a thread outside MPI that does something else
//	counts COMM peer RANK sent N arrived N
//	                                  the traffic counts with a peer
//	uncounted                         this rank's MPI does not count messages
//	comm COMM, window NAME            changes this rank's side of a communicator or window
//	queue COMM QUEUE                  changes a queue: pending_sends, pending_receives, unexpected_messages
//	epoch NAME KIND                   an open epoch of a window
//	collective COMM                   a request of a non-blocking or persistent collective
//	kernel                            what the kernel shows of a thread of a rank that could not be stopped
//	inactive KIND COMM                a persistent request that is not started
//	absent                            there is no such process
//	FIELD VALUE…                      fields of the process
//
// Every statement accepts more fields with their values, by their names in the JSON document: "status matched", "root 0",
// "exclusive true". The value ? is unknown, none is an empty list. "as NAME" names a request, and "for" refers to it; ?, ?2, …
// are requests that no queue has.

// scripted is the job of a script: its last sample, and the earlier ones.
type scripted struct {
	*mqs.Snapshot
	past Past
}

// scriptReader builds the job of a script, line by line.
type scriptReader struct {
	size      int
	processes []*mqs.Process // by rank; nil for a rank without a process
	declared  []func(rank int, p *mqs.Process)
	ids       map[string]inferior.Addr
	named     []map[string]inferior.Addr // requests, by rank
	unnamed   []int                      // number of requests without a name, by rank
	described []bool                     // ranks that the current sample describes
	past      Past
}

// statement holds the words of a statement. A quoted string is one word.
type statement []string

// parseScript returns the job of a script. The script starts after line first of the file, which errors name.
func parseScript(file string, first int, text string) (*scripted, error) {
	r := &scriptReader{ids: map[string]inferior.Addr{"world": worldID}}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		fail := func(err error) error { return fmt.Errorf("%s:%d: %w", file, first+i+1, err) }
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words, err := scriptWords(line)
		if err != nil {
			return nil, fail(err)
		}
		if r.processes == nil && words[0] != "ranks" {
			return nil, fail(fmt.Errorf(`a script begins with "ranks N", not with %q`, line))
		}
		if words[0] == "sample" {
			err = r.sample(words[1:], lines[i+1:])
		} else {
			err = r.line(words)
		}
		if err != nil {
			return nil, fail(err)
		}
	}
	if r.processes == nil {
		return nil, fmt.Errorf(`%s:%d: the script has no "ranks N"`, file, first)
	}
	isAbsent := func(p *mqs.Process) bool { return p == nil }
	return &scripted{&mqs.Snapshot{Processes: slices.DeleteFunc(slices.Clone(r.processes), isAbsent)}, r.past}, nil
}

// scriptWords splits a line into words. Semicolons and colons are words of their own.
func scriptWords(line string) (words statement, err error) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("%s has no closing quote", line)
			}
			words, line = append(words, quoted), line[len(quoted):]
			continue
		}
		end := strings.IndexAny(line, " ;:")
		if end < 0 {
			end = len(line)
		}
		end = max(end, 1)
		words, line = append(words, line[:end]), line[end:]
	}
	return words, nil
}

// ranksOf returns the ranks that a line describes, and the number of words that name them. The number is 0 if the line does
// not describe ranks.
func (r *scriptReader) ranksOf(words statement) (ranks []int32, n int, err error) {
	switch colon := slices.Index(words, ":"); {
	case words[0] == "all" && colon == 1:
		return numbersTo(r.size), 2, nil
	case (words[0] == "rank" || words[0] == "ranks") && colon == 2:
		ranks, err = r.ranks(words[1])
		return ranks, 3, err
	}
	return nil, 0, nil
}

func numbersTo(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// ranks parses a list of the job's ranks.
func (r *scriptReader) ranks(text string) (out []int32, err error) {
	if text == "all" {
		return numbersTo(r.size), nil
	}
	if err := r.assign(reflect.ValueOf(&out).Elem(), text); err != nil {
		return nil, err
	}
	for _, rank := range out {
		if rank < 0 || int(rank) >= r.size {
			return nil, fmt.Errorf("there is no rank %d in a job of %d", rank, r.size)
		}
	}
	return out, nil
}

// newProcess returns a rank's process without any statements.
func (r *scriptReader) newProcess(rank int) *mqs.Process {
	p := newMade(r.size).Processes[rank]
	p.PID = 100 + rank
	for _, declare := range r.declared {
		declare(rank, p)
	}
	r.unnamed[rank] = 0
	return p
}

func (r *scriptReader) line(words statement) error {
	if ranks, n, err := r.ranksOf(words); err != nil {
		return err
	} else if n > 0 {
		for _, rank := range ranks {
			for rest := words[n:]; len(rest) > 0; {
				end := slices.Index(rest, ";")
				if end < 0 {
					end = len(rest)
				}
				if end > 0 {
					if err := r.rank(int(rank), rest[:end]); err != nil {
						return err
					}
				}
				rest = rest[min(end+1, len(rest)):]
			}
		}
		return nil
	}
	switch {
	case words[0] == "ranks" && len(words) == 2 && r.processes == nil:
		n, err := strconv.Atoi(words[1])
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of ranks", words[1])
		}
		r.size, r.named, r.unnamed, r.described = n, make([]map[string]inferior.Addr, n), make([]int, n), make([]bool, n)
		for i := range n {
			r.named[i] = map[string]inferior.Addr{}
			r.processes = append(r.processes, r.newProcess(i))
		}
		return nil
	case words[0] == "comm" && len(words) > 2:
		return r.declare(words[1], words[2], "", words[3:])
	case words[0] == "intercomm" && len(words) == 4:
		return r.declare(words[1], words[2], words[3], nil)
	case words[0] == "window" && len(words) > 1:
		for _, name := range words[1:] {
			if err := r.declareWindow(name); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%q is no statement", strings.Join(words, " "))
}

// newID returns the address of a new communicator or window.
func (r *scriptReader) newID(name string) (inferior.Addr, error) {
	if _, ok := r.ids[name]; ok {
		return 0, fmt.Errorf("there are two %q", name)
	}
	if r.past.Looks > 0 {
		return 0, fmt.Errorf("%s is declared after a sample", name)
	}
	id := inferior.Addr(0x100 * (len(r.ids) + 1))
	r.ids[name] = id
	return id, nil
}

// declare adds a communicator to its members.
func (r *scriptReader) declare(name, members, remote string, fields statement) error {
	id, err := r.newID(name)
	if err != nil {
		return err
	}
	var sides [2][]int32
	for i, text := range []string{members, remote} {
		if text == "" {
			continue
		}
		if sides[i], err = r.ranks(text); err != nil {
			return err
		}
	}
	for side, ranks := range sides {
		declare := func(rank int, p *mqs.Process) {
			at := slices.Index(ranks, int32(rank))
			if at < 0 {
				return
			}
			q := &mqs.Queues{Communicator: mqs.Communicator{UniqueID: id, LocalRank: mqs.Known(int32(at)), Size: mqs.Known(int32(len(ranks))),
				Name: mqs.Known(name), Group: allOf(ranks), Context: fmt.Sprint(id)}, Queue: [3]*mqs.Queue{{}, {}, {}}, Traffic: []mqs.Traffic{}}
			if remote != "" {
				q.Inter, q.RemoteGroup = mqs.Known(true), allOf(sides[1-side])
			}
			p.Communicators = append(p.Communicators, q)
			if e := r.fields(reflect.ValueOf(q), fields); e != nil {
				err = e
			}
		}
		r.add(declare)
	}
	return err
}

// add applies a declaration to the current processes, and to those of later samples.
func (r *scriptReader) add(declare func(rank int, p *mqs.Process)) {
	r.declared = append(r.declared, declare)
	for i, p := range r.processes {
		declare(i, p)
	}
}

func allOf(ranks []int32) (out []mqs.Maybe[int32]) {
	for _, rank := range ranks {
		out = append(out, mqs.Known(rank))
	}
	return out
}

func (r *scriptReader) declareWindow(name string) error {
	if err := r.declare(name, "all", "", statement{"window", name}); err != nil {
		return err
	}
	id := r.ids[name]
	r.add(func(rank int, p *mqs.Process) {
		p.Windows = append(p.Windows, mqs.Window{Handle: id, Name: mqs.Known(name), Comm: mqs.Known(id), LocalRank: mqs.Known(int32(rank)), Epochs: []mqs.Epoch{}})
	})
	return nil
}

// sample starts another sample, or sets the fields of the first one. rest are the lines that follow; the ranks that they
// describe start from scratch.
func (r *scriptReader) sample(words statement, rest []string) error {
	if len(words) == 0 {
		return fmt.Errorf("which sample?")
	}
	n, err := strconv.Atoi(words[0])
	if err != nil || n < 1 || n > 1 && n-1 <= r.past.Looks {
		return fmt.Errorf("sample %s does not follow sample %d", words[0], r.past.Looks+1)
	}
	var ran, isNew []int32
	for words = words[1:]; len(words) > 1 && (words[0] == "ran" || words[0] == "new"); words = words[2:] {
		to := map[string]*[]int32{"ran": &ran, "new": &isNew}[words[0]]
		if *to, err = r.ranks(words[1]); err != nil {
			return err
		}
	}
	if n > 1 {
		r.past = Past{Looks: n - 1, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
		for i, p := range r.processes {
			if p != nil && !slices.Contains(isNew, int32(i)) {
				r.past.Earlier[100+i] = p
			}
			if p != nil { // a sample reads the process anew
				r.processes[i] = (&made{Snapshot: &mqs.Snapshot{Processes: []*mqs.Process{p}}}).clone().Processes[0]
			}
			if slices.Contains(ran, int32(i)) {
				r.past.Ran[100+i] = true
			}
			r.described[i] = false
		}
	}
	for _, line := range rest {
		words, err := scriptWords(line)
		if err != nil || len(words) == 0 || n == 1 {
			continue
		}
		if words[0] == "sample" {
			break
		}
		ranks, _, _ := r.ranksOf(words)
		for _, rank := range ranks {
			if !r.described[rank] {
				r.described[rank], r.processes[rank] = true, r.newProcess(int(rank))
			}
		}
	}
	return r.fields(reflect.ValueOf(&r.past), words)
}
