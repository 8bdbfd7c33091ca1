package inferior

import (
	"cmp"
	"slices"
)

// maxTogether is how many tasks run side by side.
const maxTogether = 256

// Together runs tasks that read the process, and brings what they lack for all of them at once: round trips
// grow with the longest task, and not with their number. One task runs at a time, until it lacks memory,
// so that what they share is theirs alone meanwhile, but it may have changed when the task goes on. No task
// may wait for another one: see [Remember]. A task that panics has Together panic, once all tasks have ended.
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
		t.running = make(chan error)
		go func() {
			defer func() {
				if f := recover(); f != nil {
					fault = f
				}
				t.paused <- false
			}()
			f()
		}()
		t.await()
	}
	for len(t.waiting) > 0 {
		waiting, lacking := t.waiting, t.lacking
		t.waiting, t.lacking = nil, nil
		slices.SortFunc(lacking, func(a, b Range) int { return cmp.Compare(a.Addr, b.Addr) })
		err := r.mem.fetch(r.ctx, merged(lacking))
		for _, task := range waiting {
			t.running = task
			task <- err // why the memory that it lacked can't be asked for
			t.await()
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

// await waits until the running task lacks memory or ends.
func (t *turns) await() {
	if <-t.paused {
		t.waiting = append(t.waiting, t.running)
	}
}

// wait lets other tasks run until the ranges have been asked for.
func (t *turns) wait(ranges []Range) error {
	t.lacking = append(t.lacking, ranges...)
	task := t.running
	t.paused <- true
	return <-task
}

// Remember returns a function that returns what f does, and calls it once. Unlike those of package sync it
// waits for nobody: of tasks that run side by side ([Reader.Together]), those that ask while f runs have it run for
// them too.
func Remember[T any](f func() T) func() T {
	var value T
	isKnown := false
	return func() T {
		if !isKnown {
			v := f()
			value, isKnown = v, true
		}
		return value
	}
}
