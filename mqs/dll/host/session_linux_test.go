package host

import "testing"

// TestPrinted checks that a DLL's message is formatted as printf would, but that no conversion other than %% and one %s
// has any effect: a DLL's message is foreign text.
func TestPrinted(t *testing.T) {
	for message, want := range map[string]string{
		"":                         "",
		"%s has no queues":         "/bin/a%%sb has no queues",
		"100%% of %s":              "100% of /bin/a%%sb",
		"%s is 100%% empty, %d %n": "/bin/a%%sb is 100% empty, %d %n",
		"%%s":                      "%s",
		"%%%s%%":                   "%/bin/a%%sb%",
		"%%%%":                     "%%",
		"%s and %s":                "/bin/a%%sb and %s",
		"at 100% of %5s %":         "at 100% of %5s %",
	} {
		if got := printed(message, "/bin/a%%sb"); got != want {
			t.Errorf("%q is printed as %q, want %q", message, got, want)
		}
	}
}
