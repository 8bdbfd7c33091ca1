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

// safe defines a shell function: safe PATH FOLDER fails unless the file and every folder above it belong to root or to the
// current user, and nobody else can write to them, so nobody else can replace the file before or after the check. PATH must not
// contain links, and FOLDER is the folder that contains the file. Like package trust, safe accepts sticky folders such as /tmp
// further up, because there users can only replace their own files, but not as FOLDER. Access control lists need no check of
// their own: their mask shows up as the group's permission bits. If safe fails, $a is the file or folder at fault.
const safe = `u=$(id -u 2>/dev/null); set -f; safe() { a=$1; g=$2; while :; do set -- $(ls -ldn "$a" 2>/dev/null); ` +
	`case "$1" in [-d]????-??-*);; d????????[tT]*) [ "$a" != "$g" ] || return 1;; *) return 1;; esac; ` +
	`case "$3" in 0|"$u");; *) return 1;; esac; ` +
	`[ "$a" != / ] || return 0; a=${a%/*}; a=${a:-/}; done; }`

// found is a script that leaves $w empty if the program is at its path there and is safe to execute, as $p. Otherwise $w says
// why not. Nothing that lies there is executed.
func (p *Program) found() string {
	return safe + `; p=` + string(commandline.Quote(p.Path)) + `; w="mpi-queues is not there"; ` +
		`if d=$(cd -P "${p%/*}/" 2>/dev/null && pwd -P) && p=${d%/}/${p##*/} && [ -f "$p" ] && [ -x "$p" ]; then w=; ` +
		`safe "$p" "$d" || w="mpi-queues is not executed there, because another user could have replaced it by changing $a"; fi`
}

// LineThere is a command line for any shell that executes the program with arguments on a node that is known to have it,
// unless another user could have put it there.
func (p *Program) LineThere(args ...string) commandline.Script {
	return commandline.Script(p.found() + `; if [ -z "$w" ]; then exec "$p" ` + string(commandline.Quote(args...)) + `; fi; ` +
		`echo "$w: give the path of a safe copy with --node-program" >&2; exit 127`).Anywhere()
}

// Line returns a command line, for any shell, that runs the program with arguments on a host. If the host has the same version,
// and nobody else could have replaced it, that copy is run. Otherwise the command line asks for the program and reads it from
// standard input into an unlinked file, which disappears however the processes die. The shell creates the file itself (set -C)
// and then uses only its descriptors: in a folder that another user can write to, the name may come to refer to another file.
// A one-line script first checks that files in the folder can be executed.
func (p *Program) Line(host string, args ...string) (commandline.Script, error) {
	packed, err := p.packed()
	if err != nil {
		return "", fmt.Errorf("the program can't be sent: %w", err)
	}
	system := "Linux " + machines[runtime.GOARCH]
	said := func(why string) string {
		return `{ echo "$w, and can not be sent: ` + why + `" >&2; exit 127; }`
	}
	words := string(commandline.Quote(args...))
	return commandline.Script(strings.Join([]string{
		p.found(),
		`if [ -z "$w" ] && [ "$("$p" --version 2>/dev/null)" = ` + string(commandline.Quote(p.Version)) + ` ]; then exec "$p" ` + words + `; fi`,
		`w=${w:-mpi-queues is not there in this version}`,
		`[ "$(uname -sm)" = "` + system + `" ] || ` + said("this is "+system+", and there is $(uname -sm)"),
		`for t in gzip mktemp head; do command -v $t >/dev/null || ` + said("there is no $t") + `; done`,
		`umask 077; set -C`,
		`for d in "$XDG_RUNTIME_DIR" /dev/shm "$TMPDIR" /tmp /var/tmp "$HOME"; do [ -d "$d" ] && f=$(mktemp -u "$d/mpi-queues-XXXXXXXXXX" 2>/dev/null) && { command exec 8>"$f"; } 2>/dev/null || continue`,
		`chmod 700 /proc/$$/fd/8; exec 9</proc/self/fd/8; rm -f "$f"; echo "#!/bin/sh" >&8; exec 8>&-`,
		`if /proc/self/fd/9 2>/dev/null; then exec 8>|/proc/self/fd/9; echo ` + string(commandline.Quote(wire.Wants(host))),
		fmt.Sprintf(`head -c %d | gzip -dc >&8; exec 8>&-; exec /proc/self/fd/9 `, len(packed)) + words,
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
