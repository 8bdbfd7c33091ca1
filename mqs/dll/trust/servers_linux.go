package trust

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// device is the number of the file system that a file is on.
func device(file *syscall.Stat_t) uint64 { return file.Dev }

// servers are the users whose programs serve file systems here, by the device
// numbers that their files have.
func servers() (map[uint64]int, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return serversOf(string(mounts)), nil
}

// serversOf takes them out of a mountinfo: proc_pid_mountinfo(5). The kernel notes
// the user who has mounted a FUSE file system as its option user_id: mount.fuse(8).
func serversOf(mounts string) map[uint64]int {
	out := map[uint64]int{}
	for line := range strings.Lines(mounts) {
		mount, kind, ok := strings.Cut(strings.TrimSpace(line), " - ")
		place, about := strings.Fields(mount), strings.Fields(kind)
		if !ok || len(place) < 5 || len(about) < 3 {
			continue
		}
		if class, _, _ := strings.Cut(about[0], "."); class != "fuse" && class != "fuseblk" {
			continue
		}
		var number [2]uint32
		for i, digits := range strings.SplitN(place[2]+":", ":", 3)[:2] {
			n, err := strconv.ParseUint(digits, 10, 32)
			if err != nil {
				ok = false
			}
			number[i] = uint32(n)
		}
		if !ok {
			continue
		}
		server := nobodyKnown
		for _, option := range strings.Split(about[len(about)-1], ",") {
			if id, ok := strings.CutPrefix(option, "user_id="); ok {
				if n, err := strconv.ParseUint(id, 10, 32); err == nil {
					server = int(n)
				}
			}
		}
		out[unix.Mkdev(number[0], number[1])] = server
	}
	return out
}
