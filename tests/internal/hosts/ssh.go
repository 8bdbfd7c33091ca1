//go:build live || matrix || full

package hosts

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// SSH starts a daemon of the secure shell on each host, and returns a folder that has ssh, as a user has it who has named
// these hosts in their ~/.ssh/config: without questions, it enters each of them as the user of the test. The machine's
// own daemon, and its user's files, are left alone.
func (h *Hosts) SSH(t *testing.T) (folder string) {
	t.Helper()
	home, bin := h.in("home"), h.in("bin")
	key, client := filepath.Join(home, ".ssh", "key"), filepath.Join(home, ".ssh", "config")
	for _, folder := range []string{filepath.Dir(key), bin} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	command(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(home, ".ssh", "authorized_keys"): string(public),
		client:         fmt.Sprintf("Host %s\n IdentityFile %s\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n", strings.Join(h.Names, " "), key),
		h.in("passwd"): withHome(t, home),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(h.in("passwd"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "ssh"), fmt.Appendf(nil, "#!/bin/sh\nexec %s -F %s \"$@\"\n", ssh, client), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range h.Names {
		host := h.in("host-" + name)
		command(t, "dropbearkey", "-t", "ed25519", "-f", host)
		if err := h.run(name, fmt.Sprintf("mount --bind %s /etc/passwd && dropbear -s -p 22 -P %s.pid -r %s >/dev/null 2>&1", h.in("passwd"), host, host)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// withHome is the users' table, in which the user of the test has another home.
func withHome(t *testing.T, home string) string {
	t.Helper()
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(line, ":")
		if len(fields) == 7 && fields[2] == fmt.Sprint(os.Getuid()) {
			fields[5] = home
		}
		out.WriteString(strings.Join(fields, ":"))
	}
	return out.String()
}

func command(t *testing.T, words ...string) {
	t.Helper()
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", words[0], err, bytes.TrimSpace(out))
	}
}
