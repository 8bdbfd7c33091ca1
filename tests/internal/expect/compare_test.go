package expect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const account = `{"pid": 7, "global_rank": 0, "world_size": 2, "communicators": [
{"name": "MPI_COMM_WORLD", "local_rank": 0, "size": 2, "group": [0, 1], "remote_group": null,
 "pending_sends": [{"status": "pending", "desired_local_rank": 1, "desired_tag": 1, "kind": "isend"},
  {"status": "pending", "desired_local_rank": 0, "desired_tag": 2, "kind": "persistent_ssend"},
  {"status": "complete", "desired_local_rank": 1, "desired_tag": 3, "kind": "isend", "optional": true},
  {"status": "complete", "desired_local_rank": 1, "desired_tag": 4, "kind": "ibsend"}],
 "pending_receives": [{"status": "complete", "desired_tag": null, "tag_wild": true, "kind": "irecv", "cancelled": true},
  {"status": "pending", "desired_tag": 6, "buffer": "0x10", "kind": "imrecv"}],
 "unexpected_messages": [{"desired_local_rank": 1, "desired_tag": 7}, {"desired_local_rank": 0, "desired_tag": 8}]},
{"size": 1, "pending_sends": [], "pending_receives": [{"desired_tag": 9}], "unexpected_messages": []},
{"name": "twin", "pending_sends": [], "pending_receives": [{"desired_tag": 10}], "unexpected_messages": []},
{"name": "twin", "pending_sends": [], "pending_receives": [{"desired_tag": 11}], "unexpected_messages": []}]}`

const shown = `{"pid": 7, "global_rank": 0, "world_size": 2, "unavailable": null, "communicators": [
{"unique_id": "0x0", "name": "MPI_COMM_WORLD", "inter": false, "internal": false, "local_rank": 0, "size": 2, "group": [0, 1], "remote_group": null,
 "pending_sends": [{"status": "pending", "desired_local_rank": 0, "desired_tag": 2, "kind": "ssend_init", "internal": false},
  {"status": "pending", "desired_local_rank": 1, "desired_tag": 1, "kind": "isend", "internal": false},
  {"status": "complete", "desired_local_rank": 1, "desired_tag": 4, "kind": "ibsend", "internal": false}],
 "pending_receives": [{"status": "complete", "desired_tag": null, "tag_wild": true, "kind": "irecv", "extra_text": ["cancelled"], "internal": false},
  {"status": "pending", "desired_tag": 6, "buffer": "0x10", "kind": "irecv", "internal": false}],
 "unexpected_messages": [{"desired_local_rank": 0, "desired_tag": 8, "internal": false}, {"desired_local_rank": 1, "desired_tag": 7, "internal": false}]},
{"unique_id": "0x1", "name": "MPI_COMM_SELF", "inter": false, "internal": false, "size": 1, "pending_sends": [], "pending_receives": [], "unexpected_messages": []},
{"unique_id": "0x2", "name": "twin", "inter": false, "internal": false, "pending_sends": [], "pending_receives": [{"desired_tag": 11, "internal": false}], "unexpected_messages": []},
{"unique_id": "0x3", "name": "twin", "inter": false, "internal": false, "pending_sends": [], "pending_receives": [{"desired_tag": 10, "internal": false}], "unexpected_messages": []},
{"unique_id": "0x4", "name": "DUP", "inter": false, "internal": false, "size": 1, "pending_sends": [], "pending_receives": [{"desired_tag": 9, "internal": false}], "unexpected_messages": []}]}`

func compare(t *testing.T, process string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rank-0.json")
	if err := os.WriteFile(path, []byte(account), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := ParseDocument([]byte(`{"schema": 1, "processes": [` + process + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return Compare(a, d.Processes[0])
}

func TestAgreement(t *testing.T) {
	if d := compare(t, shown); len(d) > 0 {
		t.Error(strings.Join(d, "\n"))
	}
}

func TestDifferences(t *testing.T) {
	receive := `{"status": "pending", "desired_tag": 6, "buffer": "0x10", "kind": "irecv", "internal": false}`
	for _, c := range []struct{ name, from, to, want string }{
		{"a value", `"buffer": "0x10"`, `"buffer": "0x18"`, `rank-0: communicator "MPI_COMM_WORLD" 0x0: pending_receives: [1]: buffer is "0x18", want "0x10"`},
		{"a rank", `"global_rank": 0`, `"global_rank": null`, `rank-0: global_rank is null, want 0`},
		{"a group", `"group": [0, 1]`, `"group": [1, 0]`, `group is [1,0], want [0,1]`},
		{"the status of a send", `"status": "complete", "desired_local_rank": 1, "desired_tag": 4`, `"status": "pending", "desired_local_rank": 1, "desired_tag": 4`,
			`pending_sends with peer 1: [2]: status is "pending", want "complete"`},
		{"a kind", `"kind": "ssend_init"`, `"kind": "send_init"`, `pending_sends with peer 0: [0]: kind is "send_init", want "persistent_ssend"`},
		{"no cancellation", `["cancelled"]`, `[]`, `want it to say cancelled`},
		{"a lost operation", ",\n  " + receive, "", `pending_receives: [1] is missing`},
		{"an operation too many", receive, receive + "," + receive, `pending_receives: [2] should not be there`},
		{"an order", `"desired_local_rank": 1, "desired_tag": 1,`, `"desired_local_rank": 1, "desired_tag": 4,`, `desired_tag is 4, want 1`},
		{"a queue that is null", `[{"desired_local_rank": 0, "desired_tag": 8, "internal": false}, {"desired_local_rank": 1, "desired_tag": 7, "internal": false}]`,
			`null, "unavailable": {"unexpected_messages": "because"}`, `unexpected_messages is null (because)`},
		{"a lost communicator", `"name": "twin"`, `"name": "twins"`, `communicator "twin" is not shown`},
		{"a communicator too many", `"unique_id": "0x1", "name": "MPI_COMM_SELF"`, `"unique_id": "0x1", "name": "gone"`, `communicator "gone" 0x1 (size 1) is shown`},
		{"an intercommunicator", `"MPI_COMM_WORLD", "inter": false`, `"MPI_COMM_WORLD", "inter": true`, `inter is true, want false`},
		{"the library's own", `"desired_tag": 11, "internal": false`, `"desired_tag": 11, "internal": true`, `internal is true, want false`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(shown, c.from) {
				t.Fatalf("no %s to replace", c.from)
			}
			d := strings.Join(compare(t, strings.Replace(shown, c.from, c.to, 1)), "\n")
			if !strings.Contains(d, c.want) {
				t.Errorf("got differences:\n%s\nwant among them:\n%s", d, c.want)
			}
		})
	}
}

func TestHeldMessage(t *testing.T) {
	var want, taken, other Object
	for text, to := range map[string]*Object{
		`{"pending_receives": [{"kind": "improbe", "actual_tag": 32, "optional": true}]}`: &want,
		`{"status": "matched", "actual_tag": 32}`:                                         &taken,
		`{"status": "matched", "actual_tag": 33}`:                                         &other,
	} {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			t.Fatal(err)
		}
	}
	if left := held(want, []Object{taken, other, taken}); len(left) != 2 || show(left[0]) != show(other) {
		t.Errorf("left: %v", left)
	}
}
