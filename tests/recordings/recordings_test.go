// Package recordings replays what `mpi-queues -record` has read of real jobs of
// tests/programs on stock libraries. Beside each NAME.mpiq stand NAME.txt, what
// is shown of it, and NAME.account.json, what the program says it has done. "old"
// and "new" in a name are UCX's protocols.
package recordings

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/mpich"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

var update = flag.Bool("update", false, "write what is shown now beside the recordings")

func TestReplays(t *testing.T) {
	files, err := filepath.Glob("*/*.mpiq")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			s := replay(t, file)
			var text bytes.Buffer
			if err := render.Text(&text, s, render.Style{}); err != nil {
				t.Fatal(err)
			}
			base := strings.TrimSuffix(file, ".mpiq")
			compare(t, base+".txt", text.Bytes())
			checkAccount(t, base+".account.json", s)
		})
	}
}

func replay(t *testing.T, file string) *mqs.Snapshot {
	t.Helper()
	r, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &mqs.Snapshot{}
	for _, tg := range r.Processes {
		p, err := read.Read(context.Background(), tg, []read.Decoder{openmpi.Decoder{}, mpich.Decoder{}}, read.Filter{})
		if err != nil {
			p = read.Failed(tg.Info(), err)
		}
		s.Processes = append(s.Processes, p)
	}
	return s
}

// checkAccount holds what is shown against what the program has done, field by field.
func checkAccount(t *testing.T, file string, s *mqs.Snapshot) {
	t.Helper()
	account, err := expect.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	// What a library does not tell a debugger, a live job's launcher has.
	s.Processes[0].Seat(number(t, account.GlobalRank), number(t, account.WorldSize))
	var doc bytes.Buffer
	if err := document.Write(&doc, s); err != nil {
		t.Fatal(err)
	}
	shown, err := expect.ParseDocument(doc.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, difference := range keeps(file).Compare(account, shown.Processes[0]) {
		t.Error(difference)
	}
}

// number is an account's number, unknown if it has none.
func number(t *testing.T, value any) mqs.Maybe[int32] {
	t.Helper()
	if value == nil {
		return mqs.Maybe[int32]{}
	}
	n, err := strconv.ParseInt(fmt.Sprint(value), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return mqs.Known(int32(n))
}

// keeps is what the library keeps that a recording's folder is named after. An
// architecture at the name's end changes nothing in it, nor does a UCX without
// assertions. A distribution's own build of MPICH is called stock or, as the static library that
// has symbols, static.
func keeps(file string) expect.Keeps {
	folder := filepath.Dir(file)
	for architecture := range architectures {
		folder = strings.TrimSuffix(folder, "-"+architecture)
	}
	name, build, _ := strings.Cut(folder, "-")
	release, build, _ := strings.Cut(build, "-")
	switch build = strings.TrimSuffix(build, "-noassert"); {
	case name == "openmpi" && build == "ucx":
		return expect.UCX()
	case name == "openmpi":
		return expect.Keeps{}
	case build == "stock":
		return expect.StockMPICH(!strings.HasPrefix(release, "4.0."))
	case build == "static":
		return expect.MPICHOverUCX()
	}
	device, debugger := strings.CutSuffix(build, "-debug")
	return expect.MPICH(device, debugger)
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs: got\n%s", file, got)
	}
}
