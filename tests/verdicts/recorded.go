// Package verdicts holds recorded samples of jobs, and replays them: for each mode of the programs that hang, or only look
// so (tests/internal/expect), with each kind of MPI, the report on them must be the mode's. Where a live test has to start a
// job and wait, a replay takes milliseconds, so that each run replays all.
//
// A folder is a row: one MPI over one transport, which row.json describes. In it each mode has an archive
// (txtar, compressed by gzip) of one or more takes. A take is what one `mpi-queues report` has based its report on:
//
//	lines.json       the lines of the marks in the program's source as it was then
//	1/00.json        the first sample of the first take, as a document of mpi-queues
//	1/00.clocks      the clocks of its processes before and after it was taken, and when that was
//	1/01.json        the next sample, and so on
//	1/report.json    the report that was made of them then
//
// tests/verdicts/record records a row.
package verdicts

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// Row describes what the jobs of a folder were run with.
type Row struct {
	expect.Library
	// OneSided is the component of Open MPI that carries the windows of a row of program onesided alone.
	OneSided string `json:"one_sided,omitempty"`
	// Flags are the launcher's beside the number of ranks.
	Flags []string `json:"flags"`
	// System is the distribution, Debugger the gdb that read the jobs.
	System   string `json:"system"`
	Debugger string `json:"debugger"`
	// Recorded is the day on which jobs of the row were last recorded, Commit the product's commit then.
	Recorded string `json:"recorded"`
	Commit   string `json:"commit"`
	// Lacking gives, for each mode that the library can run and that is not recorded, the reason.
	Lacking map[string]string `json:"lacking,omitempty"`
}

// Expected returns what the report on a mode must be in the row; nil if the row can't have the mode.
func (r *Row) Expected(m *expect.Mode) *expect.Mode {
	switch {
	case r.OneSided != "" && m.Program != "onesided":
		return nil
	case r.OneSided == "pt2pt" && m.Verdict != expect.Moves:
		return m.ByPt2pt()
	}
	return r.Library.Expected(m)
}

// Recording is the takes of one mode.
type Recording struct {
	Lines map[string]int // of the marks in the program
	Takes []Take

	files map[string][]byte // of the archive
}

// Take is the samples that one report was based on, and the report as it was then.
type Take struct {
	Samples []liveness.Sample
	Report  []byte
}

// File is the name of a mode's archive in the folder of a row.
func File(m *expect.Mode) string { return m.Program + "." + m.Name + ".txtar.gz" }

// Open reads the archive of a mode. The parser keeps once what archives have in common.
func Open(path string, parser *document.Parser) (*Recording, error) {
	files, err := unpack(path)
	if err != nil {
		return nil, err
	}
	r := &Recording{files: files}
	if err := json.Unmarshal(files["lines.json"], &r.Lines); err != nil {
		return nil, fmt.Errorf("%s: lines.json: %w", path, err)
	}
	for n := 1; files[fmt.Sprintf("%d/report.json", n)] != nil; n++ {
		take := Take{Report: files[fmt.Sprintf("%d/report.json", n)]}
		for i := 0; ; i++ {
			name := fmt.Sprintf("%d/%02d", n, i)
			text := files[name+".json"]
			if text == nil {
				break
			}
			var s liveness.Sample
			if err := json.Unmarshal(files[name+".clocks"], &s); err != nil {
				return nil, fmt.Errorf("%s: %s.clocks: %w", path, name, err)
			}
			if s.Snapshot, err = parser.Read(bytes.NewReader(text)); err != nil {
				return nil, fmt.Errorf("%s: %s.json: %w", path, name, err)
			}
			take.Samples = append(take.Samples, s)
		}
		r.Takes = append(r.Takes, take)
	}
	if len(r.Takes) == 0 {
		return nil, fmt.Errorf("%s holds no take", path)
	}
	return r, nil
}

// unpack returns the files of an archive by their names.
func unpack(path string) (map[string][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	files := map[string][]byte{}
	for _, f := range txtar.Parse(text).Files {
		files[f.Name] = f.Data
	}
	return files, nil
}

// Rows reads the descriptions of all rows, by the names of their folders.
func Rows(folder string) (map[string]*Row, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*", "row.json"))
	if err != nil {
		return nil, err
	}
	rows := map[string]*Row{}
	for _, path := range paths {
		row, err := readRow(path)
		if err != nil {
			return nil, err
		}
		rows[filepath.Base(filepath.Dir(path))] = row
	}
	return rows, nil
}

func readRow(path string) (*Row, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	row := &Row{}
	read := json.NewDecoder(bytes.NewReader(text))
	read.DisallowUnknownFields()
	if err := read.Decode(row); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return row, nil
}

// ModeOf returns the mode that an archive is named after, or nil.
func ModeOf(path string) *expect.Mode {
	name, isArchive := strings.CutSuffix(filepath.Base(path), ".txtar.gz")
	program, mode, _ := strings.Cut(name, ".")
	if !isArchive {
		return nil
	}
	return expect.Find(program, mode)
}
