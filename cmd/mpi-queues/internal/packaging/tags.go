package packaging

import (
	"debug/elf"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// oldestC is the minor number of the oldest glibc 2 that pip has a tag's short form for (PEP 600).
const oldestC = 17

// platformTag is pip's name for the machines that a program runs on: its processor, and the glibc that it needs at
// least (PEP 600).
func platformTag(program string) (string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", fmt.Errorf("%s is no program for Linux: %w", program, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	processors := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}
	processor, ok := processors[f.Machine]
	if !ok {
		return "", fmt.Errorf("%s is for %v, for which there are no wheels", program, f.Machine)
	}
	if interpreter := f.Section(".interp"); interpreter != nil {
		if path, err := interpreter.Data(); err != nil || !strings.Contains(string(path), "ld-linux") {
			return "", fmt.Errorf("%s is for another C library than glibc (%.80q)", program, path)
		}
	}
	needs, err := f.DynamicVersionNeeds()
	// What Go has linked by itself needs no version, and its section is empty.
	if section := f.Section(".gnu.version_r"); err != nil && section != nil && section.Size > 0 {
		return "", fmt.Errorf("the versions that %s needs can't be read: %w", program, err)
	}
	minor := oldestC
	for _, library := range needs {
		for _, version := range library.Needs {
			if of, ok := strings.CutPrefix(version.Dep, "GLIBC_2."); ok {
				number, _, _ := strings.Cut(of, ".")
				if n, err := strconv.Atoi(number); err == nil {
					minor = max(minor, n)
				}
			}
		}
	}
	return fmt.Sprintf("manylinux_2_%d_%s", minor, processor), nil
}

var (
	ofRelease   = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)(?:-(.+?))?(?:\+.*)?$`)
	ofCandidate = regexp.MustCompile(`^(alpha|beta|rc)\.?(\d+)$`)
)

// pythonVersion is a version of Go's in Python's spelling (PEP 440): what is no release is one in development,
// and comes before the release.
func pythonVersion(version string) string {
	match := ofRelease.FindStringSubmatch(version)
	if match == nil {
		return "0.dev0"
	}
	if match[2] == "" {
		return match[1]
	}
	if c := ofCandidate.FindStringSubmatch(match[2]); c != nil {
		return match[1] + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[c[1]] + c[2]
	}
	return match[1] + ".dev0"
}
