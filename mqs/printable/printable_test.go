package printable

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// unsafe are the characters that no way out may let through, beside line breaks.
func unsafe() []rune {
	out := []rune{0x7f, 0x61c, 0xad, 0xfeff, 0xfffe, 0xffff, 0x2028, 0x2029, 0x2060, 0xe0001, 0xe0041}
	for _, span := range [][2]rune{{0, '\t' - 1}, {'\v', ' ' - 1}, {0x80, 0x9f}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}} {
		for r := span[0]; r <= span[1]; r++ {
			out = append(out, r)
		}
	}
	return out
}

func TestUnsafe(t *testing.T) {
	for _, r := range unsafe() {
		name := "a" + string(r) + "b"
		if Line(name) != "a\uFFFDb" || Text(name) != "a\uFFFDb" {
			t.Errorf("U+%04X: %q, %q", r, Line(name), Text(name))
		}
		text := AppendJSON(nil, name)
		var back string
		if err := json.Unmarshal(text, &back); err != nil || back != name {
			t.Errorf("U+%04X: %s is %q when it is read (%v)", r, text, back, err)
		}
		if s := string(text); Line(s) != s {
			t.Errorf("U+%04X: %q", r, s)
		}
	}
}

func TestLines(t *testing.T) {
	if got := Line("a\n\tb"); got != "a\uFFFD\uFFFDb" {
		t.Errorf("%q", got)
	}
	if got := Text("a\n\tb"); got != "a\n\tb" {
		t.Errorf("%q", got)
	}
}

func TestInvalid(t *testing.T) {
	for _, s := range []string{"a\xffb", "a\xed\xa0\x80b", "a\xc0\xafb"} {
		if got := Line(s); !utf8.ValidString(got) || !strings.HasPrefix(got, "a\uFFFD") || !strings.HasSuffix(got, "b") {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// What shows as itself stays, in whatever script.
func TestSafe(t *testing.T) {
	for _, s := range []string{"", "MPI_COMM_WORLD", "Gerät 3", "計算", "résumé\u00a0!", "e\u0301", "🐢", "\uFFFD"} {
		if Line(s) != s {
			t.Errorf("%q has become %q", s, Line(s))
		}
	}
}
