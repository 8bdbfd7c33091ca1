package simulate

import "slices"

// Reduce removes from a job what it can lose and still fail.
func Reduce(j *Job, fails func(j *Job) bool) *Job {
	for smaller := true; smaller; {
		smaller = false
		for _, less := range jobsWithout(j) {
			if fails(less) {
				j, smaller = less, true
				break
			}
		}
	}
	return j
}

// jobsWithout returns the jobs that have one thing less: a thread, a call, or what is special of a call.
func jobsWithout(j *Job) []*Job {
	var out []*Job
	change := func(f func(j *Job)) {
		less := j.clone()
		f(less)
		out = append(out, less)
	}
	for i := range j.Ranks {
		for k := range j.Ranks[i] {
			if k > 0 {
				change(func(j *Job) { j.Ranks[i] = slices.Delete(j.Ranks[i], k, k+1) })
			}
			if len(j.Ranks[i][k]) > 1 {
				change(func(j *Job) { j.Ranks[i][k] = nil })
			}
			for n := range j.Ranks[i][k] {
				change(func(j *Job) { j.Ranks[i][k] = slices.Delete(j.Ranks[i][k], n, n+1) })
				if j.Ranks[i][k][n].Rendezvous {
					change(func(j *Job) { j.Ranks[i][k][n].Rendezvous = false })
				}
			}
		}
	}
	for _, option := range j.options() {
		if *option {
			*option = false
			change(func(*Job) {})
			*option = true
		}
	}
	return out
}

// options returns the options that a job can do without.
func (j *Job) options() []*bool {
	return []*bool{&j.Dissemination, &j.DropsComplete, &j.QueuesProbes, &j.IgnoresInFinalize, &j.CountsBeforeMatching, &j.ReportsArriving, &j.OnlyReceives, &j.ReceiverFetches, &j.AnonymousSends, &j.ReusesLines}
}

func (j *Job) clone() *Job {
	out := *j
	out.Ranks = make([][][]Call, len(j.Ranks))
	for i, threads := range j.Ranks {
		for _, calls := range threads {
			out.Ranks[i] = append(out.Ranks[i], slices.Clone(calls))
		}
	}
	return &out
}
