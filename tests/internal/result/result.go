// Package result is the format in which tests write down which MPI and debugger they have tried, and the table of these results.
package result

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Result is the outcome of one check, which is a part of a cell of the table, or the record of a part's last complete run.
type Result struct {
	// MPI is its name and version, Build whose build of it this is.
	MPI, Build string `json:",omitempty"`
	// Debugger is its name and version, with those of what is in it.
	Debugger string `json:",omitempty"`
	// Layout is what the layouts of the library's types come from.
	Layout string `json:",omitempty"`
	// Check is what was looked at: a column.
	Check string `json:",omitempty"`
	// Outcome is what was seen, if the test has passed.
	Outcome string `json:",omitempty"`
	// Failed is true if it has not.
	Failed bool `json:",omitempty"`

	// Part is the part of tests/run whose test it was, Date the day of the run (2026-11-28), and Commit the checkout's. Tests leave
	// them empty.
	Part, Date, Commit string `json:",omitempty"`
	// Tests is the number of passed tests, or 1 for a part without tests of its own. It is set only in the record of a whole part,
	// whose MPI is empty.
	Tests int `json:",omitempty"`
}

// Write adds the result to a folder.
func (r Result) Write(folder string) error { return Save(folder, r) }

// Save adds a value to a folder, as a JSON file of its own.
func Save(folder string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	// The tests that write here are several processes, some with the same id.
	file, err := os.CreateTemp(folder, "*.json")
	if err != nil {
		return err
	}
	if _, err := file.Write(text); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

// Read returns all results of a folder.
func Read(folder string) ([]Result, error) { return Load[Result](folder) }

// Load returns all values of a folder that [Save] has put there.
func Load[T any](folder string) ([]T, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []T
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var v T
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, v)
	}
	return out, nil
}
