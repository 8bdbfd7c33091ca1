package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// packages maps programs and files to the packages of Debian that have them. A package is installed if its program or file
// is missing.
type packages map[string]string

var (
	// ofCompiler is the subset of ofGo that is needed to compile the project.
	ofCompiler = packages{"gcc": "gcc", "/usr/include/stdlib.h": "libc6-dev"}

	ofGo = packages{
		"git": "git", "gcc": "gcc", "/usr/include/stdlib.h": "libc6-dev", "gdb": "gdb", "ps": "procps", "python3": "python3",
	}
	// ofShells are the login shells that unit tests try quoting in, where they are there: quick does not wait for them.
	ofShells    = packages{"bsd-csh": "csh", "tcsh": "tcsh", "fish": "fish"}
	ofExtension = packages{"g++": "g++", "gfortran": "gfortran", "gdbserver": "gdbserver"}
	ofLint      = packages{"mypy": "mypy", "flake8": "flake8", "shellcheck": "shellcheck", "shfmt": "shfmt"}
	ofNode      = packages{"node": "nodejs", "npm": "npm"}
	ofLive      = packages{
		"mpicc.openmpi": "libopenmpi-dev", "mpirun.openmpi": "openmpi-bin",
		"ssh": "openssh-client", "/usr/sbin/dropbear": "dropbear-bin", "/usr/sbin/ip": "iproute2",
		"/usr/share/doc/python3-venv": "python3-venv",
	}
	ofChromium = packages{"chromium": "chromium"}
	ofTables   = packages{
		"make": "make", "xz": "xz-utils", "patch": "patch", "dpkg-source": "dpkg-dev", "autoreconf": "autoconf", "automake": "automake",
		"libtoolize": "libtool",
	}
	ofCross  = packages{"aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu", "/usr/aarch64-linux-gnu/include/stdio.h": "libc6-dev-arm64-cross"}
	ofBuilds = packages{
		"make": "make", "xz": "xz-utils", "patch": "patch", "dpkg-source": "dpkg-dev", "autoreconf": "autoconf", "automake": "automake",
		"libtoolize": "libtool", "/usr/sbin/debootstrap": "debootstrap", "mpicc.mpich": "libmpich-dev", "mpirun.mpich": "mpich",
		"/usr/include/hwloc.h": "libhwloc-dev", "/usr/include/ucp/api/ucp.h": "libucx-dev", "rg": "ripgrep",
	}
	ofGuest = packages{"qemu-system-x86_64": "qemu-system-x86", "mke2fs": "e2fsprogs", "debugfs": "e2fsprogs"}
)

// missing returns the packages whose programs or files are not there.
func missing(lists []packages) []string {
	var out []string
	for _, list := range lists {
		for program, name := range list {
			if !isThere(program) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func isThere(program string) bool {
	if strings.HasPrefix(program, "/") {
		_, err := os.Stat(program)
		return err == nil
	}
	_, err := exec.LookPath(program)
	return err == nil
}

// install installs the packages that are missing. If a part builds from Debian's sources, apt must know where they come from.
// The compiler is installed first. The project and its unit tests are then compiled while apt-get installs the rest, which leaves
// the processors idle.
func install(ctx context.Context, lists []packages, out io.Writer) error {
	names := missing(lists)
	isStale := len(names) > 0
	if !isStale && slices.ContainsFunc(lists, func(list packages) bool { return list["dpkg-source"] != "" }) {
		known, err := exec.CommandContext(ctx, "apt-get", "indextargets", "Origin: Debian").Output()
		isStale = err != nil || len(known) == 0
	}
	if isStale {
		if err := apt(ctx, "update"); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	fmt.Fprintln(out, "installing", strings.Join(names, " "))
	if err := aptInstall(ctx, missing([]packages{ofCompiler})); err != nil {
		return err
	}
	compiled := make(chan struct{})
	go func() {
		defer close(compiled)
		// Unlike `go test', this does not link. What can't be compiled fails in the tests.
		_ = exec.CommandContext(ctx, "go", "list", "-export", "-test", "./...").Run()
	}()
	err := aptInstall(ctx, missing(lists))
	<-compiled
	return err
}

// aptInstall installs packages, if there are any.
func aptInstall(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	return apt(ctx, append([]string{"install", "-y", "--no-install-recommends"}, names...)...)
}

// apt runs apt-get as root. Canceling ctx does not kill apt-get, because an interrupted dpkg has to be repaired by hand.
func apt(ctx context.Context, args ...string) error {
	args = append([]string{"env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"}, args...)
	isRoot := os.Getuid() == 0
	if !isRoot {
		args = append([]string{"sudo"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	// Its own process group shields apt-get from Ctrl-C. sudo stays in the terminal's group, because it may ask for a password there,
	// so Ctrl-C reaches sudo.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: isRoot}
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return ctx.Err()
}
