package expect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const facing = `{"pid": 1, "global_rank": 0, "world_size": 3, "communicators": [
{"name": "MPI_COMM_WORLD", "local_rank": 0, "size": 3, "group": [0, 1, 2], "remote_group": null, "pending_sends": [], "unexpected_messages": [],
 "pending_receives": [{"status": "pending", "desired_local_rank": 1, "desired_global_rank": 1, "desired_tag": 1}]},
{"name": "idle", "local_rank": 0, "size": 3, "group": [0, 1, 2], "remote_group": null, "pending_sends": [], "pending_receives": [], "unexpected_messages": []},
{"name": "dup", "local_rank": 0, "size": 3, "group": [0, 1, 2], "remote_group": null, "pending_receives": [], "unexpected_messages": [],
 "pending_sends": [{"status": "pending", "desired_local_rank": 1, "desired_tag": 2, "kind": "isend"}]},
{"name": "bridge", "local_rank": 0, "size": 1, "group": [0], "remote_group": [1, 2], "unexpected_messages": [],
 "pending_sends": [{"status": "pending", "desired_local_rank": 1, "desired_tag": 3, "kind": "isend"}],
 "pending_receives": [{"status": "pending", "desired_local_rank": 1, "desired_global_rank": 2, "desired_tag": 4}]}]}`

// A stripped MPICH without names shows the sends on an intercommunicator under any
// context, maybe another communicator's; but they must be there, and nothing more.
func TestStrippedMPICHWithoutNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rank-0.json")
	if err := os.WriteFile(path, []byte(facing), 0o644); err != nil {
		t.Fatal(err)
	}
	account, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	comm := func(id, sends, receives string) string {
		name, inter := "context "+id, "null"
		if id == "0x0" {
			name, inter = "MPI_COMM_WORLD", "false"
		}
		return `{"unique_id": "` + id + `", "name": "` + name + `", "inter": ` + inter + `, "internal": false, "pending_sends": [` + sends +
			`], "pending_receives": [` + receives + `], "unexpected_messages": []}`
	}
	send := func(tag string) string {
		return `{"status": "pending", "desired_tag": ` + tag + `, "internal": false}`
	}
	receive := func(rank, global, tag string) string {
		return `{"status": "pending", "desired_local_rank": ` + rank + `, "desired_global_rank": ` + global + `, "desired_tag": ` + tag + `, "internal": false}`
	}
	world, bridge := comm("0x0", "", receive("1", "1", "1")), receive("1", "null", "4")
	for _, c := range []struct{ comms, says string }{
		{world + "," + comm("0x10", send("2"), "") + "," + comm("0x20", send("3"), bridge), ""},
		{world + "," + comm("0x10", send("2"), "") + "," + comm("0x30", send("3"), "") + "," + comm("0x20", "", bridge), ""},
		{world + "," + comm("0x10", send("3")+","+send("2"), "") + "," + comm("0x20", "", bridge), ""},
		{world + "," + comm("0x10", send("2"), bridge) + "," + comm("0x20", send("3"), ""), "is not shown"},
		{world + "," + comm("0x10", send("2"), "") + "," + comm("0x20", "", bridge), "is missing"},
		{world + "," + comm("0x10", send("2"), "") + "," + comm("0x20", send("3")+","+send("3"), bridge), "should not be there"},
		{world + "," + comm("0x10", send("2"), "") + "," + comm("0x30", send("9"), "") + "," + comm("0x20", "", bridge), "should not be there"},
		{world + "," + comm("0x10", send("2"), "") + "," + comm("0x20", send("3"), bridge) + "," + comm("0x30", "", ""), "should not be there"},
		{comm("0x0", "", receive("1", "null", "1")) + "," + comm("0x10", send("2"), "") + "," + comm("0x20", send("3"), bridge), "desired_global_rank is null"},
	} {
		d, err := ParseDocument([]byte(`{"processes": [{"pid": 1, "unavailable": null, "communicators": [` + c.comms + `]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strippedMPICH(false).Compare(account, d.Processes[0]), "\n")
		if c.says == "" && got != "" || !strings.Contains(got, c.says) {
			t.Errorf("%s:\n%q, want %q", c.comms, got, c.says)
		}
	}
}
