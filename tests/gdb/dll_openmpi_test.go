//go:build live

package gdb

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// defects are what Open MPI's own DLL is known to tell wrong, as .github/DLL.md
// lists it: each a kind of difference from the native decoder.
var defects = map[string]func(d, c expect.Object) bool{
	"no unexpected messages": func(d, _ expect.Object) bool {
		return d["queue"] == "unexpected_messages" && d["field"] == "queue" && strings.Contains(fmt.Sprint(d["dll"]), "has no information on it")
	},
	"order of allocation": func(d, _ expect.Object) bool {
		return d["field"] == "position" && d["queue"] != "unexpected_messages"
	},
	"actual_global_rank of sends": func(d, _ expect.Object) bool {
		return d["field"] == "actual_global_rank" && d["queue"] == "pending_sends"
	},
	"peers of intercommunicators": func(d, c expect.Object) bool {
		return c["inter"] == true && slices.Contains([]any{"desired_global_rank", "actual_global_rank"}, d["field"])
	},
	"buffer of buffered sends": func(d, _ expect.Object) bool {
		return d["field"] == "buffer" && d["queue"] == "pending_sends"
	},
	// An inactive persistent request has never begun or has been collected.
	"requests that are not in use": func(d, _ expect.Object) bool {
		return d["field"] == "operation" && d["native"] == nil && slices.Contains([]any{"pending_sends", "pending_receives"}, d["queue"])
	},
	"status of complete receives": func(d, _ expect.Object) bool {
		return d["field"] == "status" && d["queue"] == "pending_receives" && d["native"] == "complete" && d["dll"] == "matched"
	},
	// The library puts the address of what waits in place of a flag.
	"what MPI_Waitall waits for": func(d, c expect.Object) bool {
		if d["field"] == "status" {
			return d["native"] == "pending" && d["dll"] == "complete"
		}
		return d["queue"] == "pending_receives" && operationOf(c, d)["status"] == "pending" &&
			slices.Contains([]any{"actual_tag", "actual_length", "actual_local_rank", "actual_global_rank"}, d["field"])
	},
	"lengths of matched receives": func(d, c expect.Object) bool {
		op := operationOf(c, d)
		return d["queue"] == "pending_receives" && op["status"] != "pending" && slices.Contains([]any{"desired_length", "actual_length"}, d["field"])
	},
	"message of cancelled receives": func(d, c expect.Object) bool {
		return strings.Contains(show(operationOf(c, d)["extra_text"]), "cancelled") && strings.HasPrefix(fmt.Sprint(d["field"]), "actual_")
	},
	"ranks of another job": func(d, _ expect.Object) bool {
		return d["native"] == nil && slices.Contains([]any{"desired_global_rank", "actual_global_rank", "group"}, d["field"])
	},
}

// What Open MPI's own DLL shows of a stripped library is what the native decoder
// shows, but for exactly its known defects.
func TestOpenMPIsOwnDLL(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range []struct {
		program string
		ranks   int
		args    []string
	}{{"queues", 3, nil}, {"requests", 2, nil}, {"groups", 4, nil}, {"spawn", 2, nil}, {"blocked", 3, []string{"waitall"}}} {
		job := work.Start(t, c.program, c.ranks, nil, c.args...)
		if c.args != nil {
			for _, account := range job.Accounts {
				await(t, account)
			}
			job.Pause(t)
		}
		for _, account := range job.Accounts {
			t.Run(c.program+" "+account.Name, func(t *testing.T) {
				work.Record(t, result.Result{MPI: release(t), Layout: "embedded table", Check: "own DLL", Outcome: "known differences"})
				where := live.Process(account.PID)
				both := readJSON(t, where, "set mpi-queues source both")
				if both["source"] != "both" || filepath.Base(fmt.Sprint(both["dll"])) != "libompi_dbg_msgq.so" {
					t.Errorf("source is %v, dll is %v", both["source"], both["dll"])
				}
				live.Report(t, expect.Compare(account, both)) // it shows what the native decoder reads
				for _, d := range differencesOf(both) {
					known := false
					for name, is := range defects {
						if is(d, communicatorOf(both, d)) {
							known, seen[name] = true, true
						}
					}
					if !known {
						t.Errorf("a difference that is no known defect: %s", show(d))
					}
				}
				if c.program != "requests" { // see "requests that are not in use"
					sameNumbers(t, both, readJSON(t, where, "set mpi-queues source dll"))
				}
			})
		}
	}
	for name := range defects {
		if !seen[name] {
			t.Errorf("no program has shown the defect %q", name)
		}
	}
}

func differencesOf(process expect.Object) []expect.Object {
	var out []expect.Object
	list, _ := process["differences"].([]any)
	for _, d := range list {
		out = append(out, d.(map[string]any))
	}
	return out
}

// communicatorOf is the one that a difference is about.
func communicatorOf(process, difference expect.Object) expect.Object {
	for _, c := range expect.Communicators(process) {
		if fmt.Sprintf("%v (%v)", c["name"], c["unique_id"]) == difference["communicator"] {
			return c
		}
	}
	return expect.Object{}
}

// operationOf is the one that a difference is about, of the native decoder's.
func operationOf(c, difference expect.Object) expect.Object {
	i, err := strconv.Atoi(fmt.Sprint(difference["operation"]))
	ops, ok := expect.Operations(c, fmt.Sprint(difference["queue"]))
	if err != nil || !ok || i >= len(ops) {
		return expect.Object{}
	}
	return ops[i]
}

// sameNumbers compares how many operations the DLL shows by itself with how many there are.
func sameNumbers(t *testing.T, native, dll expect.Object) {
	t.Helper()
	if dll["source"] != "dll" || dll["mpi"] != "Open MPI" || show(dll["global_rank"]) != show(native["global_rank"]) {
		t.Errorf("source %v, mpi %v, rank %v", dll["source"], dll["mpi"], dll["global_rank"])
	}
	for _, n := range expect.Communicators(native) {
		for _, d := range expect.Communicators(dll) {
			if d["unique_id"] != n["unique_id"] {
				continue
			}
			for _, queue := range expect.Queues[:2] {
				want, _ := expect.Operations(n, queue)
				got, ok := expect.Operations(d, queue)
				if !ok || len(got) != len(want) {
					t.Errorf("%s of %v: the DLL shows %d, there are %d", queue, n["name"], len(got), len(want))
				}
			}
		}
	}
}
