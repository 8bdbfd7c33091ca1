//go:build live

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// noSpace is the kernel's word for a disk that is full.
const noSpace = "no space left on device"

// onDisk makes a run of the program one that has a disk of so many bytes at folder.
func onDisk(s *shell, folder string, bytes int) *shell {
	args := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		args = append(args, "--map-root-user")
	}
	args = append(args, "sh", "-ec", `mount -t tmpfs -o "size=$1" tmpfs "$2"; shift 2; exec "$@"`, "sh", strconv.Itoa(bytes), folder)
	own := s.Cmd
	s.Cmd = exec.Command(args[0], append(args[1:], own.Args...)...)
	s.Stdout, s.Stderr, s.Env = own.Stdout, own.Stderr, own.Env
	return s
}

// A disk that gets full at any moment is an error that names it, or is not needed; no rank stays stopped.
func TestFullDisk(t *testing.T) {
	j := deadlock(t)
	launcher := strconv.Itoa(j.Launcher.Process.Pid)
	const page = 4 << 10 // of a tmpfs, which has no disk of 0 bytes
	t.Run("temporary files", func(t *testing.T) {
		full, enough := 0, 0
		for bytes := page; enough == 0; bytes = 3*bytes + page {
			s := command(t, append([]string{"dump", "--json"}, arguments(j)...)...)
			_ = onDisk(s, s.tmp, bytes).Run()
			runOn(t, j.PIDs...)
			switch text := s.err.String(); {
			case s.ProcessState.Success() && text == "":
				for _, p := range parse(t, &s.out).Processes {
					if p.Unavailable != "" {
						t.Errorf("with %d bytes: %s", bytes, p.Unavailable)
					}
				}
				enough++
			case !strings.Contains(text, noSpace) || !strings.Contains(text, "TMPDIR"):
				t.Fatalf("with %d bytes: exit status %d\n%s", bytes, s.ProcessState.ExitCode(), text)
			default:
				full++
			}
			if bytes > 1<<30 {
				t.Fatalf("%d bytes are not enough", bytes)
			}
		}
		if full == 0 {
			t.Error("no disk was too small")
		}
	})
	t.Run("output", func(t *testing.T) {
		for bytes, code := range map[int]int{page: 1, 64 << 20: 0} {
			folder := t.TempDir()
			s := command(t, "report", "--html", "-o", filepath.Join(folder, "report.html"), launcher)
			_ = onDisk(s, folder, bytes).Run()
			if got := s.ProcessState.ExitCode(); got != code || strings.Contains(s.err.String(), noSpace) != (code == 1) {
				t.Errorf("with %d bytes: exit status %d\n%s", bytes, got, &s.err)
			}
			runOn(t, j.PIDs...)
		}
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = full.Close() }()
		s := command(t, append([]string{"dump"}, arguments(j)...)...)
		s.Stdout = full
		s.ends(t, 1)
		says(t, &s.err, noSpace)
	})
}
