package expect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const halfKept = `{"pid": 1, "global_rank": 0, "world_size": 2, "communicators": [
{"name": "c", "size": 2, "pending_receives": [], "unexpected_messages": [],
 "pending_sends": [{"status": "pending", "desired_local_rank": 1, "desired_tag": 1, "kind": "isend"},
  {"status": "pending", "desired_local_rank": 1, "desired_tag": 2, "kind": "isend"},
  {"status": "complete", "desired_local_rank": 1, "desired_tag": 3, "kind": "ibsend"}]}]}`

// A library that keeps no tags and no order loses nothing else, and nothing
// that it keeps may be wrong.
func TestFidelity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rank-0.json")
	if err := os.WriteFile(path, []byte(halfKept), 0o644); err != nil {
		t.Fatal(err)
	}
	account, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	keeps := Fidelity{
		MayLackValue:     func(_ Object, _, key string, _, got Object) bool { return key == "desired_tag" && got[key] == nil },
		MayBeUnordered:   func(_ Object, queue string, _ Object) bool { return queue == "pending_sends" },
		MayBeAbsent:      func(_ Object, _ string, want Object) bool { return want["kind"] == "ibsend" },
		MayBeUnavailable: func(queue, reason string) bool { return queue == "pending_sends" && reason == "elsewhere" },
	}
	send := func(tag, rank string) string {
		return `{"status": "pending", "desired_local_rank": ` + rank + `, "desired_tag": ` + tag + `, "kind": "isend", "internal": false}`
	}
	for _, c := range []struct{ sends, says string }{
		{"[" + send("2", "1") + "," + send("null", "1") + "]", ""},
		{"[" + send("2", "1") + "," + send("9", "1") + "]", "desired_tag is 9"},
		{"[" + send("2", "1") + "," + send("null", "null") + "]", "desired_local_rank is null"},
		{"[" + send("null", "1") + "]", "is missing"},
		{"[" + send("null", "1") + "," + send("null", "1") + "," + send("null", "1") + "," + send("null", "1") + "]", "should not be there"},
		{`null, "unavailable": {"pending_sends": "elsewhere"}`, ""},
		{`null, "unavailable": {"pending_sends": "broken"}`, "broken"},
	} {
		d, err := ParseDocument([]byte(`{"processes": [{"pid": 1, "global_rank": 0, "world_size": 2, "unavailable": null, "communicators": [
{"unique_id": "0x1", "name": "c", "size": 2, "inter": false, "internal": false, "pending_receives": [], "unexpected_messages": [], "pending_sends": ` + c.sends + `}]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(keeps.Compare(account, d.Processes[0]), "\n")
		if c.says == "" && got != "" || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q", c.sends, got, c.says)
		}
	}
}
