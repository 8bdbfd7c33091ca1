package recording

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// mostSteps is how many steps a replay may take, see [inferiortest.Steps].
const mostSteps = 20000

// content is a file of an archive.
func content(t testing.TB, z *zip.Reader, name string) []byte {
	f, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// replayed replays a recording's file as a user would see it, at the cost of what a small one may take.
func replayed(t *testing.T, file []byte) {
	steps := &inferiortest.Steps{Context: t.Context(), Most: mostSteps}
	cost.AtMost(t, cost.Most, func() {
		r, err := Read(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		s, err := r.Read(steps, decoders.All, read.Filter{Internal: true})
		if err != nil {
			if strings.Contains(err.Error(), "please report") {
				t.Error(err)
			}
			return
		}
		var doc bytes.Buffer
		if err := document.Write(&doc, s); err != nil {
			t.Error(err)
		}
		if _, err := document.Parse(doc.Bytes()); err != nil {
			t.Errorf("what is written can't be read back: %v", err)
		}
	})
	if steps.Taken > mostSteps {
		t.Errorf("it takes more than %d steps", mostSteps)
	}
}

// Whatever the files of a recording hold, it ends in something to show or in an error.
func FuzzRecording(f *testing.F) {
	for _, name := range []string{"openmpi-4.1.4/barrier-rank-1", "mpich-4.0.2-ch4/barrier-rank-1"} {
		file := inferiortest.File(f, name)
		z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			f.Fatal(err)
		}
		index, memory := content(f, z, "recording.json"), content(f, z, "memory")
		f.Add(index, memory, "", []byte(nil))
		f.Add(index, memory, "both", []byte(`{"schema":1,"processes":[{"inferior":1,"source":"dll","communicators":[{"unique_id":"0x1","size":3}]}]}`))
		f.Add(index, memory[:len(memory)/2], "dll", []byte(`{"schema":1,"processes":[{"inferior":1,"unavailable":"it does not say"}]}`))
	}
	f.Fuzz(func(t *testing.T, index, memory []byte, source string, said []byte) {
		if len(index) > 64<<10 || len(memory)+len(said) > 64<<10 {
			t.Skip("no small one")
		}
		var file bytes.Buffer
		z := zip.NewWriter(&file)
		for name, text := range map[string][]byte{"recording.json": index, "memory": memory, sourceFile: []byte(source), dllFile: said, besideFile: said} {
			if name != "recording.json" && name != "memory" && len(text) == 0 {
				continue
			}
			w, err := z.Create(name)
			if err == nil {
				_, err = w.Write(text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		replayed(t, file.Bytes())
	})
}

// Nor does it matter what the archive itself is.
func FuzzArchive(f *testing.F) {
	f.Add(inferiortest.File(f, "openmpi-4.1.4/barrier-rank-1"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 16<<10 {
			t.Skip("no small one")
		}
		replayed(t, file)
	})
}
