package launch

import "os"

// All returns the jobs on this machine whose processes the user may debug, in the order in which they
// were started, without [Job.Others] and [Job.Claims]. A program that was started without a launcher is not among them: nothing but
// its memory says that it is one of MPI's. Errors are sentences for users.
func All() ([]*Job, error) {
	s, err := thisMachine()
	if err != nil {
		return nil, err
	}
	return s.jobs(os.Geteuid()), nil
}

// jobs are those of a user, who may be root.
func (s *system) jobs(user int) []*Job {
	out := []*Job{}
	above := s.above()
	listers := map[*process]bool{}
	for _, g := range s.groups() {
		if user != 0 && g.owner != user || !s.isJob(g, above[g]) {
			continue
		}
		if a := s.lister(g.first()); a != nil {
			if listers[a] {
				continue // a table is one job, whatever its ranks have in their environments
			}
			listers[a] = true
		}
		j := s.fromGroup(g, nil)
		j.group = nil
		out = append(out, j)
	}
	return out
}

// above are the groups that have processes of others below them.
func (s *system) above() map[*group]bool {
	at := map[*process][]*group{}
	for _, g := range s.groups() {
		for _, top := range g.tops {
			at[top] = append(at[top], g)
		}
	}
	out := map[*group]bool{}
	for _, g := range s.groups() {
		for _, top := range g.tops {
			for _, a := range top.ancestors() {
				for _, other := range at[a] {
					out[other] = out[other] || other != g
				}
			}
		}
	}
	return out
}

// isJob tells a job from a step of Slurm's that is a shell, or no program of MPI's. One that is linked
// statically and stripped may be, if it is not above other groups.
func (s *system) isJob(g *group, isAbove bool) bool {
	for _, p := range s.programs(g) {
		if s.inside(p).isMPI {
			return true
		}
	}
	if g.kind == slurm && s.env(g.first(), "PMI_RANK") == "" && s.env(g.first(), "PMIX_NAMESPACE") == "" {
		return false
	}
	return !isAbove
}
