package section

import (
	"strings"
	"testing"
)

const page = `# A page
<!-- begin: empty (make) -->
<!-- end: empty -->
<!-- begin: full (make all) -->
one
two
<!-- end: full -->
after
`

func TestGet(t *testing.T) {
	for name, want := range map[string]string{"empty": "", "full": "one\ntwo\n"} {
		if got, err := Get(page, name); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestPut(t *testing.T) {
	for _, name := range []string{"empty", "full"} {
		put, err := Put(page, name, "three\n")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Get(put, name); got != "three\n" || err != nil || !strings.HasSuffix(put, "after\n") {
			t.Errorf("%s: %q, %v", name, put, err)
		}
	}
}

func TestNoSection(t *testing.T) {
	for _, wrong := range []string{"nothing\n", page + page, strings.Replace(page, "<!-- end: full -->", "", 1)} {
		if got, err := Get(wrong, "full"); err == nil {
			t.Errorf("%q: %q", wrong, got)
		}
	}
}
