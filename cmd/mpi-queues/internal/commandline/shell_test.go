package commandline

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hostile are words that a shell would run, expand or split if they were not quoted. Each would make a file "touched".
var hostile = []string{
	"", "plain", "-n", "--", "it's", `"`, `\`, `\'`, `'\`, `'\\''`, `\0041`, `\c`, "%s", "a b", " ", "$HOME", "${HOME}", "$$", "~", "~root", "*", "[a-z]*", "{a,b}",
	"a=b", "=ls", "@", "^a^b", "#", "a#b", "!", "!!", "!ls", `\!`, "a!b", "!\n!", "%1", "&", "|", "<x", "x>touched", "\n", "\n\n", "a\n", "\\\n", "\t", "\r", "\x01", "\x1b[2J", "\x7f",
	"\x80", "\xff", "ü", "計算", "\u202e", "\uf641", "\U0010ffff", "{host}", "{command}", "-oProxyCommand=touch touched;",
	"$(touch touched)", "`touch touched`", "(touch touched)", "; touch touched", "\ntouch touched\n", "x\ntouch touched\n'", "'\ntouch touched\n'", "y';touch touched;'",
	"\"\ntouch touched\n\"", "\\'\ntouch touched #", `\';touch touched;\'`, "!\ntouch touched\n", "&& touch touched", "\n! touch touched\n", "\x00",
	strings.Repeat("it's long! ", 1000), strings.Repeat("\\", 3000),
}

// shells are those that a login shell may be, by what each is executed as. The first three are needed here, others are tried
// where they are installed.
var shells = map[string][]string{
	"sh": {"sh"}, "dash": {"dash"}, "bash": {"bash"}, "csh": {"bsd-csh"}, "tcsh": {"tcsh"}, "tcsh with backslash_quote": {"tcsh"},
	"fish": {"fish"}, "zsh": {"zsh"}, "ksh": {"ksh"}, "busybox": {"busybox", "sh"},
}

// runs has a shell run a command line in an empty folder, and returns what it writes.
func runs(t *testing.T, name string, line Script) (string, error) {
	t.Helper()
	words := append(shells[name], "-c", string(line))
	cmd := exec.Command(words[0], words[1:]...)
	home := t.TempDir()
	if name == "tcsh with backslash_quote" {
		if err := os.WriteFile(filepath.Join(home, ".tcshrc"), []byte("set backslash_quote\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home)
	out, err := cmd.Output()
	left, readErr := os.ReadDir(cmd.Dir)
	if readErr != nil || len(left) > 0 {
		t.Errorf("%s has run something else of %q: %v, %v", name, line, left, readErr)
	}
	return string(out), err
}

func eachShell(t *testing.T, test func(t *testing.T, name string)) {
	for name, words := range shells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(words[0]); err != nil {
				if name == "sh" || name == "dash" || name == "bash" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			test(t, name)
		})
	}
}

// TestAnywhere checks that each shell passes hostile words on unchanged, and runs nothing else. Words with a NUL are
// refused.
func TestAnywhere(t *testing.T) {
	t.Parallel()
	eachShell(t, func(t *testing.T, name string) {
		var all []string
		for _, word := range hostile {
			got, err := runs(t, name, Quote("printf", `%s\0`, word, "end").Anywhere())
			if strings.Contains(word, "\x00") {
				if err == nil || got != "" {
					t.Errorf("%q is %q", word, got)
				}
				continue
			}
			if want := word + "\x00end\x00"; got != want || err != nil {
				t.Errorf("%.50q is %.50q, %v", word, got, err)
			}
			all = append(all, word)
		}
		got, err := runs(t, name, Quote(append([]string{"printf", `%s\0`}, all...)...).Anywhere())
		if want := strings.Join(all, "\x00") + "\x00"; got != want || err != nil {
			t.Errorf("all of them are %.200q, %v", got, err)
		}
	})
}

// TestQuote checks the same of the quotes that are for /bin/sh alone.
func TestQuote(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sh", "dash", "bash"} {
		for _, word := range hostile {
			got, err := runs(t, name, Quote("printf", `%s\0`, word, "end"))
			if isRefused := strings.Contains(word, "\x00"); isRefused != (err != nil) || !isRefused && got != word+"\x00end\x00" {
				t.Errorf("%s: %.50q is %.50q, %v", name, word, got, err)
			}
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, word := range hostile {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		for _, line := range []Script{Quote("printf", `%s\0`, word), Quote("printf", `%s\0`, word).Anywhere()} {
			if strings.ContainsRune(word, 0) || len(line) > 100_000 { // an argument has at most 128 KiB
				continue
			}
			if got, err := runs(t, "sh", line); err != nil || got != word+"\x00" {
				t.Errorf("%q is %q, %v", word, got, err)
			}
		}
	})
}
