package oracle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

const said = `{"pid": 1, "global_rank": 0, "world_size": 2, "calls": [{"call": "MPI_Recv", "communicator": 0}], "communicators": [
{"name": "twin", "local_rank": 0, "size": 2, "group": [0, 1], "remote_group": null, "pending_sends": [], "unexpected_messages": [],
 "pending_receives": [{"status": "pending", "desired_local_rank": 1, "desired_tag": 1, "count": 4},
                      {"status": "pending", "desired_local_rank": 1, "desired_tag": 2, "count": 5},
                      {"status": "complete", "desired_local_rank": 1, "desired_tag": 3, "count": 6, "optional": true}]},
{"name": "twin", "local_rank": 0, "size": 2, "group": [1, 0], "remote_group": null, "pending_sends": [], "pending_receives": [], "unexpected_messages": []}]}`

const shown = `{"processes": [{"pid": 1, "global_rank": 0, "world_size": 2, "unavailable": null,
"threads": [{"call": null, "communicator": null}, {"call": "MPI_Recv", "communicator": "0x2"}], "communicators": [
{"unique_id": "0x1", "name": "twin", "local_rank": 0, "size": 2, "group": [1, 0], "inter": false, "internal": false, "remote_group": null, "pending_sends": [], "pending_receives": [], "unexpected_messages": []},
{"unique_id": "0x2", "name": "twin", "local_rank": 0, "size": 2, "group": [0, 1], "inter": false, "internal": false, "remote_group": null, "pending_sends": [], "unexpected_messages": [],
 "pending_receives": [{"status": "pending", "desired_local_rank": 1, "desired_tag": 1, "count": 4, "internal": false},
                      {"status": "pending", "desired_local_rank": 1, "desired_tag": 2, "count": 5, "internal": false}]}]}]}`

// What is changed in what is shown must be noticed, and as what it is.
func TestEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rank-0.json")
	if err := os.WriteFile(path, []byte(said), 0o644); err != nil {
		t.Fatal(err)
	}
	account, err := expect.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	first, second := `{"status": "pending", "desired_local_rank": 1, "desired_tag": 1, "count": 4, "internal": false}`,
		`{"status": "pending", "desired_local_rank": 1, "desired_tag": 2, "count": 5, "internal": false}`
	for _, c := range []struct {
		name, old, new string
		want           []Kind
	}{
		{"nothing", "", "", nil},
		{"a value", `"count": 4`, `"count": 5`, []Kind{Wrong}},
		{"a value is not known", `"count": 4`, `"count": null`, []Kind{Unknown}},
		{"a tag", `"desired_tag": 1`, `"desired_tag": 9`, []Kind{Missing, Extra}},
		{"an operation less", second, "", []Kind{Missing}},
		{"an operation more", second, second + "," + strings.Replace(second, ": 2", ": 7", 1), []Kind{Extra}},
		{"the order", first, "FIRST", []Kind{Order}},
		{"an internal one", `"count": 4, "internal": false`, `"count": 4, "internal": true`, []Kind{Missing}},
		{"the call", `"call": "MPI_Recv"`, `"call": "MPI_Send"`, []Kind{Wrong}},
		{"the call's communicator", `"communicator": "0x2"`, `"communicator": "0x1"`, []Kind{Wrong}},
		{"a queue", `"pending_receives": [],`, `"pending_receives": null,`, []Kind{Unknown}},
		{"the rank", `"global_rank": 0`, `"global_rank": 1`, []Kind{Wrong}},
	} {
		text := strings.Replace(shown, c.old, c.new, 1)
		if c.new == "FIRST" { // they change places
			text = strings.Replace(strings.Replace(text, second, first, 1), "FIRST", second, 1)
		}
		text = strings.Replace(text, ",\n                      ]", "]", 1)
		d, err := expect.ParseDocument([]byte(text))
		if err != nil {
			t.Fatal(c.name, err)
		}
		var got []Kind
		for _, e := range Events(account, d.Processes[0]) {
			if e.Kind != Right {
				got = append(got, e.Kind)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
