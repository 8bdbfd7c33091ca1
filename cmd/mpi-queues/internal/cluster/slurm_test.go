package cluster

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
)

// Slurm says which nodes a job or a step has; what it complains of is said.
func TestSlurmNodes(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	for name, text := range map[string]string{
		"squeue":   `case "$2" in --jobs=7) echo 'n[1-2]'; echo n9;; --steps=7.0) echo 'n[1-2]';; --jobs=8);; --jobs=10) echo '-n[1-2]';; *) echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1;; esac`,
		"scontrol": `[ "$1 $2" = "show hostnames" ] && case "$3" in 'n[1-2],n9') printf 'n1\nn2\nn9\n';; 'n[1-2]') printf 'n1\nn2\n';; esac`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]string{"7": "n1 n2 n9", "7.0": "n1 n2"} {
		got, err := SlurmNodes(context.Background(), id)
		if err != nil || !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, %v", id, got, err)
		}
	}
	for id, want := range map[string]string{"8": "squeue knows of none that runs", "10": `squeue printed "-n[1-2]"`, "9": "Invalid job id specified"} {
		if got, err := SlurmNodes(context.Background(), id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", id, got, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if got, err := SlurmNodes(context.Background(), "7"); err == nil || !strings.Contains(err.Error(), "squeue") {
		t.Errorf("without Slurm: %q, %v", got, err)
	}
}

// An engine that is started once is asked for those hosts only that have not failed, unless they are to be tried again, and
// may call them by other names.
func TestAskAtOnce(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	q := question(map[string]string{"a": "", "b": ""})
	q.Engine = "echo {hosts} {count} >>" + asked + "; sh -c {command}"
	q.Command = func(string, bool) (commandline.Script, error) {
		return commandline.Script("cat " + sends(t, "a.example", "v1", "pmix:1", 0) + "; exit 3"), nil
	}
	for i := range 3 {
		if i == 2 {
			q.Retry()
		}
		answer, err := q.Ask(context.Background())
		if err != nil || len(answer.Remarks) != 2 || answer.Remarks[1] != "Not read: b: exit status 3" {
			t.Fatal(answer, err)
		}
	}
	if text, err := os.ReadFile(asked); err != nil || string(text) != "a,b 2\na 1\na,b 2\n" {
		t.Errorf("%q, %v", text, err)
	}
}
