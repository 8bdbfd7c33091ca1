package procfs

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

func TestSystemCall(t *testing.T) {
	for text, want := range map[string]SystemCall{
		"257 0xffffff9c 0x7f01 0x0 0x1b6 0x2 0x3 0x7ffc 0x4001\n": {257, []uint64{0xffffff9c, 0x7f01, 0, 0x1b6, 2, 3}, 0x7ffc, 0x4001},
		"-1 0x7ffc 0x4001\n": {-1, []uint64{}, 0x7ffc, 0x4001},
	} {
		if got, err := folder(t, map[string]string{"syscall": text}).SystemCall(7); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "running\n", "257 0x1\n", "x 0x1 0x2\n", "257 0x1 0x2 0x3 0x4 0x5 0x6 0x7 y\n"} {
		if got, err := folder(t, map[string]string{"syscall": text}).SystemCall(7); err == nil {
			t.Errorf("%q is read: %+v", text, got)
		}
	}
}

func TestKernel(t *testing.T) {
	f := folder(t, map[string]string{"wchan": "kernel_clone", "stack": "[<0>] kernel_clone+0x1af/0x3e0\n[<0>] nfs_wait [nfs]\nrubbish\n"})
	if got := f.WaitChannel(7); got != "kernel_clone" {
		t.Errorf("it sleeps in %q", got)
	}
	if got := f.KernelStack(7); !slices.Equal(got, []string{"kernel_clone", "nfs_wait [nfs]"}) {
		t.Errorf("the stack is %q", got)
	}
	if got := folder(t, map[string]string{"wchan": "0"}).WaitChannel(7); got != "" {
		t.Errorf("a thread that runs sleeps in %q", got)
	}
}

// TestFrozenBy checks that a frozen process is recognized by its own control group's freezer, of either version, and only by that.
func TestFrozenBy(t *testing.T) {
	for name, c := range map[string]struct{ cgroup, file, state, want string }{
		"version 2":            {"0::/job/step\n", "unified/job/step/cgroup.events", "populated 1\nfrozen 1\n", "/job/step"},
		"version 2, thawed":    {"0::/job/step\n", "unified/job/step/cgroup.events", "populated 1\nfrozen 0\n", ""},
		"version 2, another's": {"0::/job\n", "unified/job/step/cgroup.events", "populated 1\nfrozen 1\n", ""},
		"version 1":            {"6:cpu,freezer:/a:b\n0::/\n", "freezer/a:b/freezer.state", "FROZEN\n", "/a:b"},
		"version 1, half-way":  {"6:cpu,freezer:/a:b\n0::/\n", "freezer/a:b/freezer.state", "FREEZING\n", ""},
		"of no control group":  {"", "unified/cgroup.events", "frozen 1\n", ""},
	} {
		f := folder(t, map[string]string{"cgroup": c.cgroup})
		groups := t.TempDir()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(groups, c.file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(string(f), "self"), 0o755); err != nil {
			t.Fatal(err)
		}
		mounts := "30 1 0:26 /part " + groups + "/unified rw - cgroup2 cgroup2 rw\nshort\n" +
			"31 1 0:26 / " + groups + "/unified rw - cgroup2 cgroup2 rw\n32 1 0:27 / " + groups + "/cpuset rw - cgroup cgroup rw,cpuset\n" +
			"33 1 0:28 / " + groups + "/freezer rw shared:9 - cgroup cgroup rw,cpu,freezer\n"
		for path, text := range map[string]string{filepath.Join(string(f), "self", "mountinfo"): mounts, filepath.Join(groups, c.file): c.state} {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.FrozenBy(7); got != c.want {
			t.Errorf("%s: frozen by %q, want %q", name, got, c.want)
		}
	}
}
