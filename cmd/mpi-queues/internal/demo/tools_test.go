package demo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An empty entry of a list of paths is the working directory.
func TestListsOfPaths(t *testing.T) {
	tools := &Tools{mpirun: "/usr/lib64/openmpi/bin/mpirun"}
	const own = "/usr/lib64/openmpi/lib:/usr/lib64/openmpi/lib64"
	for set, want := range map[string]string{"-": own, "": own, "/a": own + ":/a", ":/a:": own + ":/a", "/a::/b": own + ":/a:/b"} {
		t.Setenv("LD_LIBRARY_PATH", set)
		t.Setenv("PATH", "/bin:"+set)
		if set == "-" {
			_ = os.Unsetenv("LD_LIBRARY_PATH")
		}
		env := tools.Environment()
		if !slices.Contains(env, "LD_LIBRARY_PATH="+want) {
			t.Errorf("with %q: %q", set, env[len(env)-2:])
		}
		for _, name := range []string{"PATH=", "LD_LIBRARY_PATH="} {
			i := slices.IndexFunc(env[len(env)-2:], func(s string) bool { return strings.HasPrefix(s, name) })
			if list := env[len(env)-2+i]; i < 0 || slices.Contains(filepath.SplitList(strings.TrimPrefix(list, name)), "") {
				t.Errorf("with %q: %s", set, list)
			}
		}
	}
}
