package launch

import "os"

// All returns the jobs on this machine whose processes the user may debug, in the order in which they
// were started. A program that was started without a launcher is not among them: nothing but its memory
// says that it is one of MPI's. Errors are sentences for users.
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
	for _, g := range s.groups() {
		if (user == 0 || g.owner == user) && s.isJob(g) {
			out = append(out, s.fromGroup(g, nil))
		}
	}
	return out
}

// isJob tells a job from a step of Slurm's that is a shell, or no program of MPI's. One that is linked
// statically and stripped may be.
func (s *system) isJob(g *group) bool {
	for _, p := range s.programs(g) {
		if s.inside(p).isMPI {
			return true
		}
	}
	if g.kind == slurm && s.env(g.first(), "PMI_RANK") == "" && s.env(g.first(), "PMIX_NAMESPACE") == "" {
		return false
	}
	for _, other := range s.groups() {
		for _, top := range g.tops {
			if other != g && other.isBelow(top) {
				return false
			}
		}
	}
	return true
}
