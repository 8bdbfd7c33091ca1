package debuginfo

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Write compiles C source into the debug file of a library, below a folder for
// gdb's `set debug-file-directory`.
func Write(folder, library, source string) error {
	id, err := buildID(library)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, ".build-id", id[:2], id[2:]+".debug")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	text := path + ".c"
	if err := os.WriteFile(text, []byte(source), 0o644); err != nil {
		return err
	}
	return errors.Join(
		run("gcc", "-g", "-fno-eliminate-unused-debug-types", "-shared", "-nostdlib", "-fPIC", "-Wl,--build-id=0x"+id, "-o", path, text),
		run("objcopy", "--only-keep-debug", path))
}

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// buildID returns the build id of a library in hex.
func buildID(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	section := f.Section(".note.gnu.build-id")
	if section == nil {
		return "", fmt.Errorf("%s has no build id", path)
	}
	note, err := section.Data()
	if err != nil {
		return "", err
	}
	// Lengths of the name and the id, the type, and "GNU\0" come first.
	const header = 16
	if len(note) <= header {
		return "", fmt.Errorf("%s has a build id of no bytes", path)
	}
	return hex.EncodeToString(note[header:]), nil
}
