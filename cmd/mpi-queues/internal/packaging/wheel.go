package packaging

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/atomicfile"
)

// Wheel is a built program that pip installs into the folder of an environment's programs. Its form is that
// of the binary distribution format 1.0 (packaging.python.org).
type Wheel struct {
	// Program is the path of the built program.
	Program string
	// Version is the program's, as Go writes versions.
	Version string
	// Files is the folder that [Files] has made.
	Files string
	// Readme is the path of the description, in Markdown.
	Readme string
}

// distribution is the name of the wheel, as files spell it.
const distribution = "mpi_queues"

const metadata = `Metadata-Version: 2.1
Name: mpi-queues
Version: %s
Summary: Shows the pending sends, receives and unexpected messages of MPI programs through gdb
License: BSD-3-Clause
Classifier: Environment :: Console
Classifier: Intended Audience :: Science/Research
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Software Development :: Debuggers
License-File: LICENSE
License-File: licences.txt
Description-Content-Type: text/markdown

%s`

// Write makes the wheel in a folder, and returns its path.
func (w Wheel) Write(folder string) (string, error) {
	platform, err := platformTag(w.Program)
	if err != nil {
		return "", err
	}
	version := pythonVersion(w.Version)
	files, err := w.contents(version, platform)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	to := filepath.Join(folder, fmt.Sprintf("%s-%s-py3-none-%s.whl", distribution, version, platform))
	return to, atomicfile.Replace(to, func(fresh string) error {
		var b bytes.Buffer
		if err := pack(&b, files, distribution+"-"+version+".dist-info/RECORD"); err != nil {
			return err
		}
		return os.WriteFile(fresh, b.Bytes(), 0o644)
	})
}

// entry is a file of a wheel.
type entry struct {
	name string
	data []byte
	mode fs.FileMode
}

// contents are all files but the record, which is last.
func (w Wheel) contents(version, platform string) ([]entry, error) {
	data, info := distribution+"-"+version+".data", distribution+"-"+version+".dist-info"
	var files []entry
	from := func(name, file string, mode fs.FileMode) error {
		text, err := os.ReadFile(file)
		files = append(files, entry{name, text, mode})
		return err
	}
	if err := from(path.Join(data, "scripts", "mpi-queues"), w.Program, 0o755); err != nil {
		return nil, err
	}
	pages, err := filepath.Glob(filepath.Join(w.Files, "man", "*.1"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		if err := from(path.Join(data, "data/share/man/man1", filepath.Base(page)), page, 0o644); err != nil {
			return nil, err
		}
	}
	readme, err := os.ReadFile(w.Readme)
	if err != nil {
		return nil, err
	}
	if err := from(path.Join(info, "licenses", "LICENSE"), filepath.Join(filepath.Dir(w.Readme), "LICENSE"), 0o644); err != nil {
		return nil, err
	}
	if err := from(path.Join(info, "licenses", "licences.txt"), filepath.Join(w.Files, "licences.txt"), 0o644); err != nil {
		return nil, err
	}
	return append(files,
		entry{path.Join(info, "METADATA"), fmt.Appendf(nil, metadata, version, readme), 0o644},
		entry{path.Join(info, "WHEEL"), fmt.Appendf(nil,
			"Wheel-Version: 1.0\nGenerator: mpi-queues\nRoot-Is-Purelib: false\nTag: py3-none-%s\n", platform), 0o644}), nil
}

// pack writes files as an archive, with their record at its end: the same bytes for the same files.
func pack(to io.Writer, files []entry, record string) error {
	var lines strings.Builder
	archive := zip.NewWriter(to)
	add := func(e entry) error {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		header.SetMode(e.mode)
		f, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		_, err = f.Write(e.data)
		return err
	}
	for _, e := range files {
		sum := sha256.Sum256(e.data)
		fmt.Fprintf(&lines, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.data))
		if err := add(e); err != nil {
			return err
		}
	}
	fmt.Fprintf(&lines, "%s,,\n", record)
	if err := add(entry{record, []byte(lines.String()), 0o644}); err != nil {
		return err
	}
	return archive.Close()
}
