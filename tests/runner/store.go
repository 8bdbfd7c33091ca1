package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	tried "github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// store is where what is built or fetched stays, for all checkouts on a machine: see tests/functions.sh. It also has, for each
// part, what the part depended on when it passed.
type store struct{ folder string }

// pass is a part that has passed.
type pass struct {
	// Key is a hash of what the part depended on.
	Key string
	// IsWhole is true if no sample was taken.
	IsWhole bool
	// Date is that of the run, Commit the checkout's.
	Date, Commit string
}

// openStore finds the store's folder, and makes it.
func openStore() (*store, error) {
	folder := os.Getenv("MPI_QUEUES_TEST_CACHE")
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		folder = filepath.Join(cache, "mpi-queues", "tests")
	}
	return &store{folder}, os.MkdirAll(filepath.Join(folder, "passed"), 0o755)
}

// file is where the passes of a part are: of samples, or in whole.
func (s *store) file(q *part, isWhole bool) string {
	name := q.name
	if isWhole {
		name += "-whole"
	}
	return filepath.Join(s.folder, "passed", name+".json")
}

// passed returns the pass of a part that depended on the same. A pass in whole counts where a sample is asked for.
func (s *store) passed(q *part, key string, isWhole bool) (pass, bool) {
	for _, whole := range []bool{true, false} {
		if isWhole && !whole {
			continue
		}
		var p pass
		text, err := os.ReadFile(s.file(q, whole))
		if err == nil && json.Unmarshal(text, &p) == nil && p.Key == key && p.IsWhole == whole {
			return p, true
		}
	}
	return pass{}, false
}

// keep records that a part has passed.
func (s *store) keep(q *part, p pass) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(s.file(q, p.IsWhole), text, 0o644)
}

// usual returns how long a part took when it last passed in this kind of run.
func (s *store) usual(q *part, isWhole bool) time.Duration {
	var took time.Duration
	text, err := os.ReadFile(s.file(q, isWhole) + ".time")
	if errors.Is(err, fs.ErrNotExist) {
		return q.usual
	}
	if took, err = time.ParseDuration(strings.TrimSpace(string(text))); err != nil {
		return q.usual
	}
	return took
}

// keepTime writes down how long a part took.
func (s *store) keepTime(q *part, isWhole bool, took time.Duration) {
	_ = os.WriteFile(s.file(q, isWhole)+".time", []byte(took.Round(time.Second).String()+"\n"), 0o644)
}

// commit returns the checkout's commit, with the suffix "-dirty" if a tracked file has changed. The kept results do not count: each
// complete part changes them.
func commit() string {
	text, err := exec.Command("git", "describe", "--always", "--abbrev=12", "--exclude=*").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(text))
	changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no", "--", ":/", ":(exclude,top)"+tried.KeptFile).Output()
	if err != nil || len(changed) > 0 {
		name += "-dirty"
	}
	return name
}
