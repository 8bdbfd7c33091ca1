// Command survey records what was measured on an install of an MPI ([survey.Install]).
//
//	go run ./tests/survey NAME FOLDER    from a folder that tests/oracle has filled
//
// tests/survey/measure fills the folder.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/mpi-queues/mpi-queues/tests/internal/survey"
	"github.com/mpi-queues/mpi-queues/tests/oracle"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./tests/survey NAME FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "tests/survey:", err)
		os.Exit(1)
	}
}

func run(name, folder string) error {
	all, err := survey.Load(survey.File)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(i survey.Install) bool { return i.Name == name })
	if at < 0 {
		return fmt.Errorf("%s has no install %q", survey.File, name)
	}
	results, err := oracle.ReadResults(folder)
	if err != nil {
		return err
	}
	commit, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("git rev-parse: %w", err)
	}
	if all[at].Measured, err = survey.Record(results, time.Now().UTC().Format(time.DateOnly), strings.TrimSpace(string(commit))); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	return survey.Save(survey.File, all)
}
