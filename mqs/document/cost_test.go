package document

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// again is text over and over, n bytes of it.
type again struct {
	text string
	n    int64
	at   int
}

func (a *again) Read(b []byte) (int, error) {
	if a.n <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), a.n))
	for i := range n {
		b[i] = a.text[a.at]
		a.at = (a.at + 1) % len(a.text)
	}
	a.n -= int64(n)
	return n, nil
}

// Of a document that does not end nothing is kept but what a snapshot can have.
func TestEndlessDocuments(t *testing.T) {
	for name, c := range map[string]struct{ begin, then, says string }{
		"an unknown string":            {`{"schema":1,"x":"`, "a", "a string has more than 1 MiB"},
		"an unknown list":              {`{"schema":1,"x":[1`, ",1", "what stands beside the processes has more than 1 MiB"},
		"blanks":                       {`{"schema":1,`, " ", "what stands beside the processes has more than 1 MiB"},
		"commas between the processes": {`{"schema":1,"processes":[{}`, ",", "what stands beside the processes has more than 1 MiB"},
		"a string in a process":        {`{"schema":1,"processes":[{"image":"`, "a", "a string has more than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			endless := &again{text: c.then, n: 2 << 30}
			cost.AtMost(t, 32<<20, func() {
				_, err := new(Parser).Read(io.MultiReader(strings.NewReader(c.begin), endless))
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%q is not said: %v", c.says, err)
				}
			})
			if read := 2<<30 - endless.n; read > 8<<20 {
				t.Errorf("%d MiB were read", read>>20)
			}
		})
	}
}

// Documents with many processes are whole, however much stands for them in the envelope.
func TestManyProcesses(t *testing.T) {
	cost.Large(t)
	const n = 1 << 19
	text := `{"schema":1,"processes":[` + strings.Repeat(`{"pid":4711,"image":"/home/ann/prog"},`+"\n", n) + `{}]}`
	s, err := Parse([]byte(text))
	if err != nil || len(s.Processes) != n+1 {
		t.Errorf("they are not all there: %v", err)
	}
}

// What a document is made of takes room in it: of the smallest things there are not so many.
func TestManySmallThings(t *testing.T) {
	cost.Large(t)
	for path, each := range map[string]string{
		"": `{}`, "communicators": `{}`, "threads": `{}`, "differences": `{}`, "notes": `""`,
		"communicators pending_sends": `{}`, "communicators pending_receives": `{}`, "communicators unexpected_messages": `{}`,
		"communicators group": `0`, "communicators remote_group": `null`, "communicators traffic": `[]`,
		"communicators pending_sends extra_text": `""`, "threads requests": `"0"`,
	} {
		begin, end := `{"schema":1,"processes":[`, `]}`
		for key := range strings.FieldsSeq(path) {
			begin, end = begin+`{"`+key+`":[`, `]}`+end
		}
		text := begin + strings.Repeat(each+",", 8<<20/(len(each)+1)) + each + end
		cost.AtMost(t, 2*cost.Most, func() { // with what is gone again
			if s, err := Parse([]byte(text)); err == nil && strings.Contains(each, "{") {
				t.Errorf("%q: %d processes are read", path, len(s.Processes))
			}
		})
	}
}

// Whatever a document says, it ends as an error or as a report in every format, at the cost of
// a small one.
func FuzzSnapshot(f *testing.F) {
	for _, p := range []string{
		`{"global_rank":0,"world_size":4194304}`,
		`{"global_rank":0,"world_size":2,"phase":"active","threads":[{"number":1,"call":"MPI_Recv","communicator":"0x1","requests":["0x10"],"all_requests":true}],` +
			`"communicators":[{"unique_id":"0x1","local_rank":0,"size":2,"name":"MPI_COMM_WORLD","group":[0,1],"traffic":[[1,3,2]],"pending_receives":[` +
			`{"status":"pending","desired_local_rank":1,"desired_global_rank":1,"desired_tag":7,"request":"0x10","kind":"recv"}]}]},` +
			`{"global_rank":1,"world_size":2,"phase":"finished"}`,
		`{"global_rank":3,"world_size":4,"communicators":[{"unique_id":"0x2","size":4,"inter":true,"group":[3,null],"remote_group":[0,1],` +
			`"pending_sends":[{"status":"matched","desired_local_rank":-1,"extra_text":["a","b"]}],"totals":{"pending_sends":1000000000},"unavailable":{"unexpected_messages":"x"}}]}`,
		`null`,
	} {
		f.Add([]byte(`{"schema":1,"processes":[` + p + `]}`))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if len(doc) > 4<<10 {
			t.Skip("no kilobyte")
		}
		cost.AtMost(t, cost.Most, func() {
			s, err := Parse(doc)
			if err != nil {
				return
			}
			if s, err = read.Merge(s); err != nil {
				return
			}
			r := waitfor.Analyse(s)
			for _, write := range []func(io.Writer, *waitfor.Report) error{
				func(w io.Writer, r *waitfor.Report) error { return render.ReportText(w, r, render.Style{}) },
				render.ReportHTML, render.ReportSVG, render.ReportDOT, WriteReport,
			} {
				if err := write(io.Discard, r); err != nil {
					t.Error(err)
				}
			}
			var out bytes.Buffer
			if err := Write(&out, &mqs.Snapshot{Processes: s.Processes}); err != nil {
				t.Error(err)
			}
			if _, err := Parse(out.Bytes()); err != nil {
				t.Errorf("what was read can't be read back: %v", err)
			}
		})
	})
}
