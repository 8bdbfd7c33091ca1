package launch

import "sync"

// Finder finds jobs for one request, or one command, which asks for several of their processes: the
// machine's processes are looked through once for each job. It may be used by several goroutines.
type Finder struct {
	mu     sync.Mutex
	jobs   []*Job
	failed map[int]error // by process id

	find func(pid int) (*Job, error) // [Find] if nil
}

// Find returns the job that a process has launched or is a rank of, as [Find] does.
func (f *Finder) Find(pid int) (*Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.jobs {
		if j.Launcher == pid {
			return j.of(nil), nil
		}
		for i := range j.Ranks {
			if r := &j.Ranks[i]; r.PID == pid && r.IsHere() {
				return j.of(r), nil
			}
		}
	}
	if err, known := f.failed[pid]; known {
		return nil, err
	}
	find := f.find
	if find == nil {
		find = Find
	}
	j, err := find(pid)
	if err != nil {
		if f.failed == nil {
			f.failed = map[int]error{}
		}
		f.failed[pid] = err
		return nil, err
	}
	f.jobs = append(f.jobs, j)
	return j, nil
}

// of is the job as the answer to a question for one of its ranks, or for its launcher.
func (j *Job) of(self *Rank) *Job {
	answer := *j
	answer.Self = self
	return &answer
}
