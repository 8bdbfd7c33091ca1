package oracle

import "github.com/mpi-queues/mpi-queues/tests/internal/result"

// Result is the score of one reader on the seeds of one build.
type Result struct {
	// MPI is its name and version, Build its name in the table.
	MPI, Build string
	// Reader is "native" or "dll", and Way "live", "core", "verdict" or, of an install that is measured, "hangs".
	Reader, Way string
	// Layout is by what layouts the first process was read, if anything says so.
	Layout string
	Seeds  int
	Score  Score
}

// Write adds the result to a folder.
func (r Result) Write(folder string) error { return result.Save(folder, r) }

// ReadResults returns the results in folders. Results of the same reader and build are added up.
func ReadResults(folders ...string) ([]Result, error) {
	at := map[[4]string]int{}
	var out []Result
	for _, folder := range folders {
		some, err := result.Load[Result](folder)
		if err != nil {
			return nil, err
		}
		for _, r := range some {
			key := [4]string{r.MPI, r.Build, r.Reader, r.Way}
			i, ok := at[key]
			if !ok {
				at[key] = len(out)
				out = append(out, r)
				continue
			}
			out[i].Seeds += r.Seeds
			for kind, n := range r.Score {
				out[i].Score[kind] += n
			}
		}
	}
	return out, nil
}
