package dll

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// What a DLL prints goes into sentences and the log.
func TestTailIsPrintable(t *testing.T) {
	words := &tail{}
	if _, err := words.Write([]byte("one\nhello \x1b]0;P\x07\u009b31m\u202ered\xff\n")); err != nil {
		t.Fatal(err)
	}
	if last := words.last(); last != "hello \uFFFD]0;P\uFFFD\uFFFD31m\uFFFDred\uFFFD" {
		t.Errorf("%q", last)
	}
	for name, lines := range map[string][]string{"all": words.all(), "take": words.take()} {
		if text := strings.Join(lines, "\n"); text != printable.Text(text) || len(lines) != 2 {
			t.Errorf("%s: %q", name, text)
		}
	}
}
