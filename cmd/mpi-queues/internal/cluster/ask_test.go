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

// TestHostsThatAreNone checks that a host that would be an option of the engine is not asked, but named, and that the others
// are asked.
func TestHostsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sh -c {command} {host}", "sh -c {command} {hosts}"} {
		asked := filepath.Join(t.TempDir(), "asked")
		q := question(map[string]string{"-oProxyCommand=touch x;": "", "a": "", "a,b": ""})
		q.Engine = "echo " + strings.TrimPrefix(engine, "sh -c {command}") + " >>" + asked + "; " + engine
		q.Command = func(string, bool) (commandline.Script, error) {
			return commandline.Script("cat " + sends(t, "a", "v1", "pmix:1", 0)), nil
		}
		answer, err := q.Ask(context.Background())
		want := []string{"Answers came from 1 of 3 nodes", "Not read: -oProxyCommand=touch x;, a,b: this is no plain name or address of a host"}
		if err != nil || len(answer.Processes) != 1 || !slices.Equal(answer.Remarks, want) {
			t.Errorf("%s: %+v, %v", engine, answer, err)
		}
		if text, err := os.ReadFile(asked); err != nil || string(text) != "a\n" {
			t.Errorf("%s: %q was asked, %v", engine, text, err)
		}
	}
}
