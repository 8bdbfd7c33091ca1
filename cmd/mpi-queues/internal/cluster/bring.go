package cluster

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
)

// Program is this program, to be sent to hosts that lack it.
type Program struct {
	// Path is where it is here, and may be there.
	Path string
	// Version is what it says for --version.
	Version string

	packed func() ([]byte, error)
}

// NewProgram is the program of a file.
func NewProgram(path, version string) *Program {
	return &Program{path, version, sync.OnceValues(func() ([]byte, error) { return pack(path) })}
}

// mostProgram bounds its size, in bytes.
const mostProgram = 256 << 20

func pack(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out bytes.Buffer
	to, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err == nil {
		_, err = io.Copy(to, io.LimitReader(f, mostProgram))
	}
	if err == nil {
		err = to.Close()
	}
	return out.Bytes(), err
}

// machines are what uname(1) calls the processors that Go names.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// Line is a command line for any shell that executes the program with arguments on a host, where it is in the same version. Else it
// asks for the program, and takes it from its standard input into a file that has no name any more: nothing of it is
// left, whatever dies. The shell makes this file itself (set -C) and then uses its descriptors alone: in a folder of
// another user's, the name can come to mean another file. That a file of such a folder can be executed is tried with a
// script of two words first.
func (p *Program) Line(host string, args ...string) (commandline.Script, error) {
	packed, err := p.packed()
	if err != nil {
		return "", fmt.Errorf("the program can't be sent: %w", err)
	}
	system := "Linux " + machines[runtime.GOARCH]
	said := func(why string) string {
		return `{ echo "mpi-queues is not there, and can not be sent: ` + why + `" >&2; exit 127; }`
	}
	return commandline.Script(strings.Join([]string{
		"p=" + string(commandline.Quote(p.Path)),
		`if [ -x "$p" ] && [ "$("$p" --version 2>/dev/null)" = ` + string(commandline.Quote(p.Version)) + ` ]; then exec "$p" ` + string(commandline.Quote(args...)) + `; fi`,
		`[ "$(uname -sm)" = "` + system + `" ] || ` + said("this is "+system+", and there is $(uname -sm)"),
		`for t in gzip mktemp head; do command -v $t >/dev/null || ` + said("there is no $t") + `; done`,
		`umask 077; set -C`,
		`for d in "$XDG_RUNTIME_DIR" /dev/shm "$TMPDIR" /tmp /var/tmp "$HOME"; do [ -d "$d" ] && f=$(mktemp -u "$d/mpi-queues-XXXXXXXXXX" 2>/dev/null) && { command exec 8>"$f"; } 2>/dev/null || continue`,
		`chmod 700 /proc/$$/fd/8; exec 9</proc/self/fd/8; rm -f "$f"; echo "#!/bin/sh" >&8; exec 8>&-`,
		`if /proc/self/fd/9 2>/dev/null; then exec 8>|/proc/self/fd/9; echo ` + string(commandline.Quote(wire.Wants(host))),
		fmt.Sprintf(`head -c %d | gzip -dc >&8; exec 8>&-; exec /proc/self/fd/9 `, len(packed)) + string(commandline.Quote(args...)),
		`fi; exec 9<&-; done`,
		said("no folder of /dev/shm, /tmp, /var/tmp, XDG_RUNTIME_DIR, TMPDIR and HOME takes programs"),
	}, "; ")).Anywhere(), nil
}

// send writes what [Program.Line] reads. Who reads it may be gone.
func (p *Program) send(to io.Writer) {
	if packed, err := p.packed(); err == nil {
		_, _ = to.Write(packed)
	}
}
