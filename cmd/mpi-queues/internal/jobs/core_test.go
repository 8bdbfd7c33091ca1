package jobs

import (
	"debug/elf"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe is no core file, and is not waited for.
func TestPipeIsNoCore(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "core")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := isELF(pipe, elf.ET_CORE); err == nil || err.Error() != "it is no regular file" {
		t.Error(err)
	}
}
