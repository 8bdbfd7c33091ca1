package procfs

import (
	"os"
	"path/filepath"
	"testing"
)

// What is not as the kernel writes it is an error.
func TestTransferred(t *testing.T) {
	for text, want := range map[string]uint64{
		"rchar: 100\nwchar: 23\nsyscr: 7\nread_bytes: 5\n": 123,
		"rchar: 100\n":          0,
		"rchar: x\nwchar: 1\n":  0,
		"rchar: -1\nwchar: 1\n": 0,
		"":                      0,
	} {
		folder := t.TempDir()
		if err := os.MkdirAll(filepath.Join(folder, "7"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "7", "io"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := FS(folder).Transferred(7)
		if n != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if n, err := Host.Transferred(os.Getpid()); err != nil || n == 0 {
		t.Errorf("this process: %d, %v", n, err)
	}
}
