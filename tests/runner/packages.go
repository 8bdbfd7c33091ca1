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
	ofGo = packages{
		"git": "git", "gcc": "gcc", "/usr/include/stdlib.h": "libc6-dev", "gdb": "gdb", "ps": "procps", "python3": "python3",
	}
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
// While apt-get works, the project is compiled: the first time that takes as long.
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
	ofCompiler := missing([]packages{ofGo})
	if err := aptInstall(ctx, ofCompiler); err != nil {
		return err
	}
	compiled := make(chan struct{})
	go func() {
		defer close(compiled)
		_ = exec.CommandContext(ctx, "go", "build", "./...").Run() // what can't be compiled fails in the tests
	}()
	err := aptInstall(ctx, missing(lists))
	<-compiled
	return err
}

// aptInstall installs packages.
func aptInstall(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	return apt(ctx, append([]string{"install", "-y", "--no-install-recommends"}, names...)...)
}

// apt runs apt-get as root. It goes on to its end if the run is interrupted: dpkg doesn't stand being killed.
func apt(ctx context.Context, args ...string) error {
	args = append([]string{"env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"}, args...)
	isRoot := os.Getuid() == 0
	if !isRoot {
		args = append([]string{"sudo"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	// sudo asks the terminal for a password, which it may not do from another process group than the terminal's.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: isRoot}
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return ctx.Err()
}
