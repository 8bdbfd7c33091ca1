package launch

import (
	"strings"
	"testing"
)

// TestCheckHost checks that nothing is a host's name that could be an option, several hosts, or more than one word.
func TestCheckHost(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"a", "node-1.example.org", "_x", "10.0.0.1", "fe80::1", "me@node1", "me@domain@node1", strings.Repeat("x", maxHost)} {
		if err := CheckHost(host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{
		"", "-", "-oProxyCommand=x", "me@-oProxyCommand=x", "-me@a", "@a", "me@", "a b", "a,b", "a\nb", "a;b", "$(x)", "`x`", "a'b", `a\b`, "a!b", "a/b", "ü", "a\x00", "a=b", "{command}",
		strings.Repeat("x", maxHost+1),
	} {
		if CheckHost(host) == nil {
			t.Errorf("%q is a host", host)
		}
	}
}
