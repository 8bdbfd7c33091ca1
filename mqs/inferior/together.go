package inferior

import (
	"cmp"
	"slices"
)

// maxTogether is how many tasks run side by side.
const maxTogether = 256

// Together runs tasks that read the process, and brings what they lack for all of them at once: round trips
// grow with the longest task, and not with their number. One task runs at a time, until it lacks memory,
// so that what they share is theirs alone meanwhile, but it may have changed when the task goes on. A task
// that panics has Together panic, once all tasks have ended.
func (r *Reader) Together(tasks []func()) {
	if r.mem.turns != nil {
		for _, f := range tasks {
			f() // as a part of a task that others run beside
		}
		return
	}
	for len(tasks) > 0 {
		n := min(len(tasks), maxTogether)
		r.together(tasks[:n])
		tasks = tasks[n:]
	}
}

func (r *Reader) together(tasks []func()) {
	t := &turns{paused: make(chan bool)}
	r.mem.turns = t
	defer func() { r.mem.turns = nil }()
	var fault any
	for _, f := range tasks {
		resume := make(chan error)
		go func() {
			_ = <-resume // it begins: nothing has failed yet
			defer func() {
				if f := recover(); f != nil {
					fault = f
				}
				t.paused <- false
			}()
			f()
		}()
		t.run(resume, nil)
	}
	for len(t.waiting) > 0 {
		waiting, lacking := t.waiting, t.lacking
		t.waiting, t.lacking = nil, nil
		slices.SortFunc(lacking, func(a, b Range) int { return cmp.Compare(a.Addr, b.Addr) })
		err := r.mem.fetch(r.ctx, merged(lacking))
		for _, resume := range waiting {
			t.run(resume, err)
		}
	}
	if fault != nil {
		panic(fault)
	}
}

// turns are those that tasks take which run side by side.
type turns struct {
	paused  chan bool // the running task lacks memory; false: it has ended
	running chan error
	waiting []chan error
	lacking []Range // by the tasks that wait
}

// run lets a task go on until it lacks memory or ends. err is why the memory that it lacked can't be
// asked for.
func (t *turns) run(resume chan error, err error) {
	t.running = resume
	resume <- err
	if <-t.paused {
		t.waiting = append(t.waiting, resume)
	}
}

// wait lets other tasks run until the ranges have been asked for.
func (t *turns) wait(ranges []Range) error {
	t.lacking = append(t.lacking, ranges...)
	resume := t.running
	t.paused <- true
	return <-resume
}
