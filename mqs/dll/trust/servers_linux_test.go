package trust

import (
	"maps"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A program's file system is its user's, whatever it says of its files.
func TestServers(t *testing.T) {
	const mounts = `22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 22 0:26 / /proc/fs/fuse rw - fusectl fusectl rw
41 22 0:52 / /home/ann/mnt rw,nosuid,nodev shared:7 master:2 - fuse.sshfs ann@host:/a\040b rw,user_id=1000,group_id=1000
42 22 0:53 / /mnt/stick rw - fuseblk /dev/sdb1 rw,user_id=0,group_id=0,allow_other
43 22 0:54 / /mnt/odd rw - fuse odd rw
44 22 0:55 / /mnt/share rw - virtiofs share rw
45 22 broken
46 22 0:x / /mnt/broken rw - fuse odd rw,user_id=5
`
	got := serversOf(mounts)
	want := map[uint64]int{unix.Mkdev(0, 52): 1000, unix.Mkdev(0, 53): 0, unix.Mkdev(0, 54): nobodyKnown}
	if !maps.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}

	_, library := shelf(t)
	info, err := os.Stat(library)
	must(t, err)
	at := device(info.Sys().(*syscall.Stat_t))
	for server, why := range map[int]string{
		0: "", os.Geteuid(): "",
		54321:       "is on a file system that a program of user 54321 serves",
		nobodyKnown: "is on a file system that a program of somebody serves",
	} {
		w := walk{path: library, user: os.Geteuid(), servers: map[uint64]int{at: server}}
		if _, err := w.walk(); err != nil {
			t.Fatal(err)
		}
		switch {
		case why == "" && w.distrust != nil:
			t.Errorf("served by %d: %v", server, w.distrust)
		case why != "" && (w.distrust == nil || w.distrust.Reason != why):
			t.Errorf("served by %d: %v", server, w.distrust)
		}
	}
}
