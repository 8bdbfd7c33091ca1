package read

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Merge makes one job of snapshots of some of its ranks, whatever machines
// they come from: by rank, and those whose rank is not known at the end. Of a
// rank that is in several the first is kept, and its notes say so. Snapshots
// of different jobs are an error, as far as it shows.
func Merge(snapshots ...*mqs.Snapshot) (*mqs.Snapshot, error) {
	count := 0
	for _, s := range snapshots {
		count += len(s.Processes)
	}
	out := &mqs.Snapshot{Processes: make([]*mqs.Process, 0, count)}
	at := make(map[int32]int, count) // in out
	told := map[int32]bool{}
	var sized *mqs.Process
	for _, s := range snapshots {
		for _, p := range s.Processes {
			place, size := p.Place()
			if size.Known {
				if sized == nil {
					sized = p
				} else if _, other := sized.Place(); size != other {
					return nil, fmt.Errorf("these are not snapshots of one job: %s is of a job of %d, %s of one of %d",
						processWords(sized), other.Value, processWords(p), size.Value)
				}
			}
			if !place.Known {
				out.Processes = append(out.Processes, p)
				continue
			}
			rank := place.Value
			if first, twice := at[rank]; !twice {
				at[rank] = len(out.Processes)
				out.Processes = append(out.Processes, p)
			} else if !told[rank] {
				told[rank] = true
				kept := *out.Processes[first] // the caller's stays as it is
				kept.Notes = append(slices.Clone(kept.Notes), fmt.Sprintf("rank %d is there more than once: this is the first one", rank))
				out.Processes[first] = &kept
			}
		}
	}
	slices.SortStableFunc(out.Processes, func(x, y *mqs.Process) int {
		a, _ := x.Place()
		b, _ := y.Place()
		if a.Known != b.Known {
			if a.Known {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Value, b.Value)
	})
	return Join(out.Processes), nil
}

// processWords names a process in a sentence.
func processWords(p *mqs.Process) string {
	if rank, _ := p.Place(); rank.Known {
		return fmt.Sprintf("rank %d", rank.Value)
	}
	return fmt.Sprintf("process %d", p.PID)
}
