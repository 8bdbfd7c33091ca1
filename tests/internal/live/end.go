//go:build live || matrix || full

package live

import (
	"os"
	"path/filepath"
	"testing"
)

// End asks the job to stop, waits until it has, and returns its exit status and
// what it wrote. The programs that heed the file "stop" do so.
func (j *Job) End(t testing.TB) (status int, output string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(j.Folder, "stop"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	Until(t, "for the job's end", j.hasEnded)
	text, err := os.ReadFile(j.output)
	if err != nil {
		t.Fatal(err)
	}
	return j.launcher.ProcessState.ExitCode(), string(text)
}
