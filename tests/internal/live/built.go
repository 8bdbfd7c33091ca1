package live

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Built runs a script that builds what is not there yet, and returns the folder that the last
// line of its output names.
func Built(script string, args ...string) (folder string, err error) {
	build := exec.Command(script, args...)
	build.Stderr = os.Stderr
	out, err := build.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(append([]string{script}, args...), " "), err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1], nil
}
