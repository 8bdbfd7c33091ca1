//go:build live && verdicts

package verdicts

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

var (
	kind     = flag.String("kind", "", "the kind of row to record: see kinds")
	modes    = flag.String("modes", "", "record the modes alone whose `PROGRAM MODE` this pattern matches")
	missing  = flag.Bool("missing", false, "record the modes alone that have no recording")
	into     = flag.String("into", ".", "the folder of the rows")
	commit   = flag.String("commit", "", "the commit that is recorded")
	builds   = flag.String("builds", "", "the folder that tests/mpich/build has named")
	attempts = flag.Int("attempts", 10, "how many reports there are at most of a job that is not reported as what it is")
	takes    = flag.Int("takes", 1, "how many takes there are of a mode that hangs, and more if they have one sample only; one that moves has three times as many")
	anyTake  = flag.Bool("any", false, "keep the last takes of a job as well that is not reported as what it is")
)

// rowKind is a kind of row: an MPI, and how its jobs are started.
type rowKind struct {
	name  string
	mpi   func(w *live.Workspace, t *testing.T) *live.Workspace
	of    func(l *expect.Library)
	flags []string
	gone  string // the flag with which the launcher leaves the other ranks alone when one is gone
	lacks func(m *expect.Mode) bool
	// oneSided is the component of Open MPI for windows, with which a row has program onesided alone.
	oneSided string
}

// kinds are all that can be recorded. The name of a row is the MPI's, its release and the kind's.
func kinds() []rowKind {
	const recovery, cleanup = "--enable-recovery", "-disable-auto-cleanup"
	openMPI := func(w *live.Workspace, _ *testing.T) *live.Workspace { return w }
	rxm := live.OFI{Provider: "tcp;ofi_rxm"}
	all := []rowKind{
		{"ob1", openMPI, nil, nil, recovery, nil, ""},
		{"ucx", openMPI, func(l *expect.Library) { l.Device, l.Transport = "ucx", "UCX" }, live.OverUCX("n"), recovery, nil, ""},
		{"ofi", openMPI, func(l *expect.Library) { l.Device, l.Transport = "cm", "libfabric" }, rxm.Flags(), recovery, nil, ""},
		{"psm2", func(w *live.Workspace, t *testing.T) *live.Workspace { return w.WithOmniPath(t) },
			func(l *expect.Library) { l.Device, l.Transport = "cm", "PSM2" }, live.OverPSM2, recovery, nil, ""},
		{"stock", func(w *live.Workspace, t *testing.T) *live.Workspace { return with(t, w, "stock", live.StockMPICH) }, nil, nil, cleanup, nil, ""},
	}
	for _, osc := range []struct{ name, made string }{{"rdma", "create"}, {"sm", "allocate"}, {"ucx", "create"}, {"pt2pt", "allocate"}} {
		all = append(all, rowKind{"ob1-osc-" + osc.name, openMPI, nil, []string{"--mca", "osc", osc.name, "-x", "MAKE=" + osc.made}, recovery, nil, osc.name})
	}
	for _, b := range live.MPICHBuilds {
		all = append(all, rowKind{b.Name, func(w *live.Workspace, t *testing.T) *live.Workspace { return with(t, w, b.Name, b.MPI(*builds)) }, nil, nil, cleanup,
			func(m *expect.Mode) bool { return m.Program == "files" && b.Name != "ch4" }, ""})
	}
	return all
}

func with(t *testing.T, w *live.Workspace, name string, mpi live.MPI) *live.Workspace {
	t.Helper()
	out, err := w.With(name, mpi)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRecord records a row, as tests/verdicts/record has it do.
func TestRecord(t *testing.T) {
	all := kinds()
	i := slices.IndexFunc(all, func(k rowKind) bool { return k.name == *kind })
	if i < 0 {
		t.Fatalf("no kind of row is called %q", *kind)
	}
	chosen, err := regexp.Compile(*modes)
	if err != nil {
		t.Fatal(err)
	}
	base, err := live.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(base.Close)
	k := all[i]
	r := &recorder{kind: k, work: k.mpi(base, t), row: &Row{Lacking: map[string]string{}}}
	library := r.work.MPI.Library(t)
	if k.of != nil {
		k.of(&library)
	}
	r.folder = filepath.Join(*into, strings.ToLower(strings.ReplaceAll(library.MPI, " ", ""))+"-"+library.Release+"-"+k.name)
	if old, err := readRow(filepath.Join(r.folder, "row.json")); err == nil {
		r.row = old
	} else if err := os.MkdirAll(r.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if r.row.Lacking == nil {
		r.row.Lacking = map[string]string{}
	}
	r.row.Library, r.row.OneSided, r.row.Flags = library, k.oneSided, append([]string{}, k.flags...)
	r.row.System, r.row.Debugger = live.System(t), live.Version(t, r.work.Debugger)
	r.row.Recorded, r.row.Commit = time.Now().UTC().Format(time.DateOnly), *commit
	r.places = r.neutral(base)
	t.Cleanup(func() { r.writeRow(t) })
	t.Run("modes", func(t *testing.T) {
		for i := range expect.Modes {
			m := &expect.Modes[i]
			mode := m.Program + " " + m.Name
			_, err := os.Stat(filepath.Join(r.folder, File(m)))
			if !chosen.MatchString(mode) || *missing && err == nil || r.row.Expected(m) == nil {
				continue
			}
			if k.lacks != nil && k.lacks(m) {
				r.row.Lacking[mode] = "the build has not what the program needs"
				continue
			}
			t.Run(mode, func(t *testing.T) {
				t.Parallel()
				r.record(t, m)
			})
		}
	})
}

// recorder records the modes of a row.
type recorder struct {
	kind   rowKind
	work   *live.Workspace
	folder string
	places *strings.Replacer

	mutex sync.Mutex
	row   *Row
}

// neutral replaces the folders of this machine and this run by ones that mean nothing.
func (r *recorder) neutral(base *live.Workspace) *strings.Replacer {
	pairs := []string{r.work.Folder, "/tmp/jobs", base.Folder, "/tmp/jobs"}
	if *builds != "" {
		pairs = append(pairs, *builds, "/opt/mpich")
	}
	return strings.NewReplacer(append(pairs, base.Root, "/mpi-queues")...)
}

// enough is how many bytes of documents are enough of one mode: some have ever more requests.
const enough = 1 << 20

// record records a mode. What is kept of it is all that it may be, or -any keeps the last takes.
func (r *recorder) record(t *testing.T, m *expect.Mode) {
	mode := m.Program + " " + m.Name
	flags := slices.Clone(r.kind.flags)
	if m.Name == "gone" {
		flags = append(flags, r.kind.gone)
	}
	expected := r.row.Expected(m)
	job := r.work.StartMode(t, expected, flags...)
	lines, err := expect.Marks(filepath.Join(r.work.Root, "tests", "programs", m.Program+".c"))
	if err != nil {
		t.Fatal(err)
	}
	wanted := *takes
	if m.Verdict == expect.Moves {
		wanted *= 3
	}
	var kept, rejected []string
	why, samples, size := "", 0, int64(0)
	for n := 0; n < *attempts+wanted && (len(kept) < wanted || samples < 2) && size < enough; n++ {
		folder := t.TempDir()
		report, said, err := r.work.ReportInto(t, folder, job.Launcher())
		if err != nil {
			why = fmt.Sprintf("%v: %s", err, said)
			rejected = rejected[:0]
			continue
		}
		if differences := expected.Compare(report, lines); len(differences) > 0 {
			why = strings.Join(differences, "\n")
			rejected = append(rejected, folder)
			continue
		}
		kept = append(kept, folder)
		documents, err := filepath.Glob(filepath.Join(folder, "[0-9]*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range documents {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			samples, size = samples+1, size+info.Size()
		}
	}
	if len(kept) == 0 {
		t.Errorf("it is not reported as what it is:\n%s", why)
		if *anyTake && len(rejected) > 0 {
			kept = rejected[max(0, len(rejected)-wanted):]
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(kept) == 0 {
		r.row.Lacking[mode], _, _ = strings.Cut(why, "\n")
		return
	}
	if err := r.pack(m, lines, kept); err != nil {
		t.Error(err)
		return
	}
	delete(r.row.Lacking, mode)
}

// pack writes the archive of a mode.
func (r *recorder) pack(m *expect.Mode, lines map[string]int, takes []string) error {
	text, err := json.Marshal(lines)
	if err != nil {
		return err
	}
	archive := &txtar.Archive{Files: []txtar.File{{Name: "lines.json", Data: append(text, '\n')}}}
	for i, take := range takes {
		entries, err := os.ReadDir(take)
		if err != nil {
			return err
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(take, e.Name()))
			if err != nil {
				return err
			}
			neutral := r.places.Replace(string(text))
			if err := isNeutral(neutral); err != nil {
				return fmt.Errorf("%s: %w", e.Name(), err)
			}
			archive.Files = append(archive.Files, txtar.File{Name: fmt.Sprintf("%d/%s", i+1, e.Name()), Data: []byte(neutral)})
		}
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = z.Write(txtar.Format(archive))
	if err := errors.Join(err, z.Close()); err != nil {
		return err
	}
	path := filepath.Join(r.folder, File(m))
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		return err
	}
	return replaysAsLive(path)
}

// isNeutral fails on a text that tells of this machine.
func isNeutral(text string) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	for _, s := range []string{host, "/root/", "/home/", "/work/", cmp.Or(os.Getenv("HOME"), "/root")} {
		if s != "/" && strings.Contains(text, s) {
			at := strings.Index(text, s)
			return fmt.Errorf("it tells of this machine: %s", text[max(0, at-40):min(len(text), at+80)])
		}
	}
	return nil
}

// replaysAsLive fails if a report that is replayed is not the one that was made live.
func replaysAsLive(path string) error {
	r, err := Open(path, new(document.Parser))
	if err != nil {
		return err
	}
	for n, take := range r.Takes {
		report, err := liveness.Replay(take.Samples)
		if err != nil {
			return err
		}
		if got := reportText(report); got != string(take.Report) {
			return fmt.Errorf("%s: take %d: the replay says\n%sand the live report said\n%s", path, n+1, got, take.Report)
		}
	}
	return nil
}

func reportText(r *waitfor.Report) string {
	var text bytes.Buffer
	if err := document.WriteReport(&text, r); err != nil {
		return err.Error()
	}
	return text.String()
}

// writeRow writes the description of the row. A mode that was left out so far is lacking.
func (r *recorder) writeRow(t *testing.T) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for i := range expect.Modes {
		m := &expect.Modes[i]
		mode := m.Program + " " + m.Name
		if _, err := os.Stat(filepath.Join(r.folder, File(m))); err == nil {
			delete(r.row.Lacking, mode)
		} else if r.row.Lacking[mode] == "" && r.row.Expected(m) != nil {
			r.row.Lacking[mode] = "it has not been recorded yet"
		}
	}
	var text bytes.Buffer
	write := json.NewEncoder(&text)
	write.SetEscapeHTML(false)
	write.SetIndent("", "  ")
	err := write.Encode(r.row)
	if err == nil {
		err = os.WriteFile(filepath.Join(r.folder, "row.json"), text.Bytes(), 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}
