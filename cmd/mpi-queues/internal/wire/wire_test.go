package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// text is a document that packs badly.
func text(n int) string {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(' ' + random.IntN(95))
	}
	return string(b)
}

// sent are the lines of a collector that sends a document.
func sent(t testing.TB, node, document string) []string {
	t.Helper()
	var to bytes.Buffer
	s, err := NewSender(&to, node, "machine of "+node, "v1")
	for i := range 3 {
		if err == nil {
			err = s.Progress(fmt.Sprintf("step %d", i))
		}
	}
	if err == nil {
		err = s.Document(func(w io.Writer) error { _, err := io.WriteString(w, document); return err })
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(to.String()))
}

func received(t testing.TB, l Limits, lines ...string) *Receiver {
	t.Helper()
	r := NewReceiver(l)
	if err := r.Read(strings.NewReader(strings.Join(lines, "")), nil); err != nil {
		t.Fatal(err)
	}
	return r
}

func documentOf(c *Collector) (string, error) {
	from, err := c.Document()
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(from)
	return string(b), err
}

// only is the one collector that has been heard of.
func only(t testing.TB, r *Receiver) *Collector {
	t.Helper()
	all := r.Collectors()
	if len(all) != 1 {
		t.Fatalf("%d collectors", len(all))
	}
	return all[0]
}

func TestLines(t *testing.T) {
	for _, node := range []string{"n1", strings.Repeat("\x01", 100), "a b", "ä%41", strings.Repeat("é", 50)} {
		for _, l := range sent(t, node, text(5000)) {
			if len(l) > LineLimit || strings.ContainsFunc(strings.TrimSuffix(l, "\n"), func(c rune) bool { return c < ' ' || c > '~' }) {
				t.Errorf("a line of %d bytes: %q", len(l), l)
			}
			if got, err := parse([]byte(strings.TrimSuffix(l, "\n"))); err != nil || got.node != cut(node, maxNode) {
				t.Errorf("%q: %q, %v", l, got.node, err)
			}
		}
	}
	if _, err := NewSender(io.Discard, "", "", ""); err == nil {
		t.Error("a node without a name")
	}
}

// The lines of several nodes, in any order, with labels before them, foreign ones between them, some twice.
func TestMixed(t *testing.T) {
	documents := map[string]string{"a": "", "b": "short", "c": text(20_000), "d": text(500_000)}
	random := rand.New(rand.NewPCG(3, 4))
	var lines []string
	for node, d := range documents {
		for i, l := range sent(t, node, d) {
			lines = append(lines, "0: "+l)
			if i%3 == 0 {
				lines = append(lines, strings.TrimSuffix(l, "\n")+"\r\n")
			}
		}
	}
	lines = append(lines, "Welcome to this cluster\n", strings.Repeat("x", 3*maxText)+"\n", "\n", "\x1b[31mred\n")
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	r := received(t, DefaultLimits(), lines...)
	for _, c := range r.Collectors() {
		got, err := documentOf(c)
		if err != nil || got != documents[c.Node] {
			t.Errorf("%s: %d bytes, %v", c.Node, len(got), err)
		}
		want := Status{Node: c.Node, Machine: "machine of " + c.Node, Version: "v1", Progress: "step 2", IsWhole: true}
		if c.Status != want {
			t.Errorf("%+v", c.Status)
		}
		delete(documents, c.Node)
	}
	if len(documents) > 0 {
		t.Errorf("nothing of %v", documents)
	}
	o := r.Others()
	slices.Sort(o.Text)
	if o.Damaged != 0 || o.Refused != 0 || len(o.Text) != 2 || o.Text[0] != "Welcome to this cluster" || o.Text[1] != "�[31mred" {
		t.Errorf("%+v", o)
	}
}

// What is missing is said.
func TestMissing(t *testing.T) {
	lines := sent(t, "n", text(5000)) // hello, 3 of progress, some of data, end
	parts := len(lines) - 5
	without := func(gone ...int) []string {
		var out []string
		for i, l := range lines {
			if !slices.Contains(gone, i-4) {
				out = append(out, l)
			}
		}
		return out
	}
	damaged := slices.Clone(lines)
	damaged[6] = damaged[6][:200] + "\n"
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"nothing but words":    {lines[:4], "it began and sent no document, and was last heard of with: step 2"},
		"nothing but hello":    {lines[:1], "it began and sent no document"},
		"the end":              {lines[:len(lines)-1], fmt.Sprintf("the document is cut off behind part %d", parts)},
		"the last parts":       {lines[:8], "the document is cut off behind part 4"},
		"some in the middle":   {without(1, 2, 5), fmt.Sprintf("3 of the document's %d parts did not come: 2-3, 6", parts)},
		"some and the end":     {without(1, parts), fmt.Sprintf("the document is cut off behind part %d, and 1 before that did not come: 2", parts)},
		"all but the end":      {lines[len(lines)-1:], fmt.Sprintf("%d of the document's %d parts did not come: 1-%d", parts, parts, parts)},
		"one that was cut":     {damaged, fmt.Sprintf("1 of the document's %d parts did not come: 3", parts)},
		"the parts before one": {[]string{(&line{"n", "t", data, maxNumber, []byte("x")}).lineText()}, "the document is cut off behind part 1073741825, and 1073741824 before that did not come: 1-1073741824"},
	} {
		if _, err := documentOf(only(t, received(t, DefaultLimits(), c.lines...))); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, not %s", name, err, c.want)
		}
	}
	if o := received(t, DefaultLimits(), damaged...).Others(); o.Damaged != 1 {
		t.Errorf("%+v", o)
	}
}

func (l *line) lineText() string { return string(l.append(nil)) }

// What contradicts itself is no document, and what is too much is not kept.
func TestRefused(t *testing.T) {
	lines := sent(t, "n", text(5000))
	parts := len(lines) - 5
	first, err := parse([]byte(strings.TrimSuffix(lines[4], "\n")))
	if err != nil {
		t.Fatal(err)
	}
	with := func(k kind, number int, payload string) string {
		return (&line{first.node, first.token, k, number, []byte(payload)}).lineText()
	}
	small := Limits{Collectors: 2, Packed: 3000, All: 3200, Unpacked: 100, Other: 1 << 20}
	for name, c := range map[string]struct {
		limits Limits
		lines  []string
		want   string
	}{
		"two parts of one number": {DefaultLimits(), append([]string{with(data, 1, "x")}, lines...), "part 2 of the document came in two ways"},
		"two ends":                {DefaultLimits(), append([]string{with(end, 3, "00000000")}, lines...), "the document ends in two ways"},
		"a part behind the end":   {DefaultLimits(), append([]string{with(data, parts, "x")}, lines...), "the document goes on behind its end"},
		"an empty part":           {DefaultLimits(), append([]string{with(data, 0, "")}, lines...), "a part of the document is empty"},
		"another checksum":        {DefaultLimits(), append(slices.Clone(lines[:len(lines)-1]), with(end, parts, "00000000")), "the document's checksum is not that of its parts"},
		"no packed document":      {DefaultLimits(), []string{with(data, 0, "x"), with(end, 1, "9e6a3e0a")}, "the document's checksum is not that of its parts"},
		"a long one":              {small, lines, "the document takes more than the 3000 bytes that one may take"},
		"a reason":                {DefaultLimits(), []string{with(failed, 0, "there is no gdb"), with(failed, 1, "else")}, "there is no gdb"},
	} {
		if _, err := documentOf(only(t, received(t, c.limits, c.lines...))); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, not %s", name, err, c.want)
		}
	}
	// A bomb unpacks up to the limit, and what has just that length is whole.
	for _, n := range []int{99, 100, 101, 1 << 20} {
		got, err := documentOf(only(t, received(t, small, sent(t, "n", strings.Repeat("x", n))...)))
		if errors.Is(err, ErrTooLong) != (n > 100) || len(got) != min(n, 100) {
			t.Errorf("%d of %d bytes, %v", len(got), n, err)
		}
	}
	// Together they may take less than each alone.
	small.Unpacked = 5000
	r := received(t, small, append(sent(t, "a", text(1800)), append(sent(t, "b", text(1800)), sent(t, "c", "x")...)...)...)
	all := r.Collectors()
	if len(all) != 2 || r.Others().Refused == 0 {
		t.Fatalf("%d collectors, %+v", len(all), r.Others())
	}
	if _, err := documentOf(all[0]); err != nil {
		t.Error(err)
	}
	if _, err := documentOf(all[1]); err == nil || !strings.Contains(err.Error(), "of all nodes") {
		t.Error(err)
	}
	// Another version's.
	o := received(t, small, "@mpi-queues/2 whatever\n", "@mpi-queues/x 1\n", "@mpi-queues/2\n").Others()
	if len(o.Formats) != 1 || o.Formats[0] != "2" || o.Damaged != 1 {
		t.Errorf("%+v", o)
	}
}

// A sender that nobody reads notices it.
func TestNobodyReads(t *testing.T) {
	from, to := io.Pipe()
	go func() { _, _ = io.ReadFull(from, make([]byte, 1)); _ = from.Close() }()
	if _, err := NewSender(to, "n", "", ""); err == nil {
		t.Error("no error")
	}
	broken := errors.New("broken")
	s, err := NewSender(io.Discard, "n", "", "")
	if err == nil {
		err = s.Document(func(io.Writer) error { return broken })
	}
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

// Whatever comes ends in a document within the limits or in an error.
func FuzzReceiver(f *testing.F) {
	lines := sent(f, "n", text(3000))
	f.Add([]byte(strings.Join(lines, "")))
	f.Add([]byte(strings.Join(lines[3:], "")))
	f.Add([]byte(lines[0] + "@mpi-queues/2 x\n" + lines[5] + lines[5]))
	f.Add([]byte((&line{"n", "t", data, 7, []byte("x")}).lineText() + (&line{"n", "t", end, 8, []byte("00000000")}).lineText()))
	f.Fuzz(func(t *testing.T, in []byte) {
		l := Limits{Collectors: 3, Packed: 4000, All: 6000, Unpacked: 5000, Other: 1 << 20}
		r := NewReceiver(l)
		if err := r.Read(bytes.NewReader(in), nil); err != nil {
			t.Fatal(err)
		}
		var held int64
		all := r.Collectors()
		for _, c := range all {
			held += c.held
			got, err := documentOf(c)
			if int64(len(got)) > l.Unpacked || err == nil && !c.IsWhole || err != nil && err.Error() == "" {
				t.Errorf("%d bytes, %v of %+v", len(got), err, c)
			}
		}
		if held != r.kept || held > l.All || len(all) > l.Collectors {
			t.Errorf("%d bytes, %d counted, of %d collectors", held, r.kept, len(all))
		}
	})
}

// Lines with right checksums and any fields do no harm either.
func FuzzFields(f *testing.F) {
	f.Add("n", "t", "data", 3, []byte("x"), 2)
	f.Add("n", "t", "end", 1, []byte("00000000"), 1)
	f.Fuzz(func(t *testing.T, node, token, k string, number int, payload []byte, times int) {
		if len(node)+len(token)+len(k)+len(payload) > 1000 || strings.ContainsAny(token+k, " \n") {
			t.Skip("the line is none")
		}
		var lines []string
		for i := range times % 8 {
			lines = append(lines, (&line{node, token, kind(k), number + i, payload}).lineText())
		}
		r := received(t, Limits{Collectors: 3, Packed: 4000, All: 6000, Unpacked: 5000, Other: 1 << 20}, lines...)
		for _, c := range r.Collectors() {
			_, _ = documentOf(c)
		}
	})
}

// What is no collector's has a limit in bytes, whatever its lines are; what collectors send does not count.
func TestOtherText(t *testing.T) {
	t.Parallel()
	l := DefaultLimits()
	l.Other = 1000
	long := strings.Repeat("x", maxText)
	for name, other := range map[string][]string{
		"short lines": slices.Repeat([]string{"y\n"}, 600), "a long line": {long, long}, "no line": {strings.Repeat("x", 1001)},
	} {
		if err := NewReceiver(l).Read(strings.NewReader(strings.Join(other, "")), nil); !errors.Is(err, ErrOther) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := received(t, l, append(sent(t, "a", text(5000)), slices.Repeat([]string{"y\n"}, 500)...)...)
	if got, err := documentOf(only(t, r)); err != nil || got != text(5000) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
