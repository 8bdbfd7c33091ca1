package recordings

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// What each member of the library's objects means stands beside some recordings, in NAME.lies.txt: where one member of one
// object has another value, or a symbol is not there, and what is shown then instead.

// observed is a recorded process, and what a reader uses of it.
type observed struct {
	inferior.Inferior
	objects map[string][]object // by the name of their C type, in the order of reading
	memory  []inferior.Range    // in the same order
	seen    map[inferior.Range]bool
	symbols map[string]bool
	threads []inferior.Thread // with what was asked of their variables
}

// object is one object, and its members that are read.
type object struct {
	at      inferior.Addr
	members map[string]layout.Field
}

func observe(of inferior.Inferior) *observed {
	return &observed{Inferior: of, objects: map[string][]object{}, seen: map[inferior.Range]bool{}, symbols: map[string]bool{}}
}

func (o *observed) SawMemory(at inferior.Addr, b []byte) {
	if r := (inferior.Range{Addr: at, Len: len(b)}); !o.seen[r] {
		o.seen[r], o.memory = true, append(o.memory, r)
	}
}

func (o *observed) SawObject(name string, at inferior.Addr, members map[string]layout.Field) {
	if !slices.ContainsFunc(o.objects[name], func(x object) bool { return x.at == at }) {
		o.objects[name] = append(o.objects[name], object{at, members})
	}
}

func (o *observed) FindSymbols(ctx context.Context, names []string) ([]*inferior.Symbol, error) {
	got, err := o.Inferior.FindSymbols(ctx, names)
	for i, s := range got {
		if s != nil {
			o.symbols[names[i]] = true
		}
	}
	return got, err
}

func (o *observed) Threads(ctx context.Context, depth int, variables []string) ([]inferior.Thread, error) {
	got, err := o.Inferior.Threads(ctx, depth, variables)
	if len(variables) > 0 {
		o.threads = got
	}
	return got, err
}

// lie is a change of a process.
type lie struct {
	what   string
	change func(p *inferiortest.Patched) inferior.Inferior
}

// lies are those of a process that are tried: for each member that is read of a type, in the first and in the last object
// of it, no value, the largest one and the next one, or a pointer to nothing and to what is no memory; the same of
// memory that is no object; where threads are; and each page and each symbol that is missing.
func (o *observed) lies(t *testing.T, types *regexp.Regexp) (out []lie) {
	r := inferior.NewReader(t.Context(), o.Inferior)
	for _, name := range slices.Sorted(maps.Keys(o.objects)) {
		all := o.objects[name]
		if !types.MatchString(name) {
			continue
		}
		for i, x := range []object{all[0], all[len(all)-1]} {
			if i == 1 && len(all) == 1 {
				break
			}
			for _, path := range slices.Sorted(maps.Keys(x.members)) {
				f := x.members[path]
				place := fmt.Sprintf("%s.%s of the %s", name, path, []string{"first", "last"}[i])
				if len(all) == 1 {
					place = name + "." + path
				}
				out = append(out, o.about(r, place, x.at+inferior.Addr(f.Offset), f)...)
			}
		}
	}
	if types.MatchString("threads") {
		out = append(out, o.aboutThreads()...)
	}
	if types.MatchString("words") {
		out = append(out, o.aboutWords(r)...)
	}
	if types.MatchString("pages") {
		out = append(out, o.aboutPages()...)
	}
	if types.MatchString("symbols") {
		for _, name := range slices.Sorted(maps.Keys(o.symbols)) {
			out = append(out, lie{"without " + name, func(p *inferiortest.Patched) inferior.Inferior { return p.RemoveSymbols(name) }})
		}
	}
	return out
}

// mostWords is of how many places that are in no object lies are told.
const mostWords = 24

// aboutWords are the lies about memory that is no object: the first word of each range, of many some.
func (o *observed) aboutWords(r *inferior.Reader) (out []lie) {
	width := r.Info().PointerSize
	inside := func(m inferior.Range) bool {
		for _, all := range o.objects {
			for _, x := range all {
				if m.Addr >= x.at && m.Addr < x.at+inferior.Addr(x.size()) {
					return true
				}
			}
		}
		return m.Len < width
	}
	places := slices.DeleteFunc(slices.Clone(o.memory), inside)
	for i := 0; i < len(places); i += 1 + len(places)/mostWords {
		out = append(out, o.about(r, fmt.Sprintf("the word at %s", places[i].Addr), places[i].Addr, layout.Field{Size: width})...)
	}
	return out
}

// aboutPages are the lies about pages: one can't be read, of many some.
func (o *observed) aboutPages() (out []lie) {
	const most = 16
	var pages []inferior.Addr // in the order in which they are first used
	for _, m := range o.memory {
		if page := m.Addr &^ (inferiortest.Page - 1); !slices.Contains(pages, page) {
			pages = append(pages, page)
		}
	}
	for i := 0; i < len(pages); i += 1 + len(pages)/most {
		out = append(out, lie{fmt.Sprintf("without the page at %s", pages[i]), func(p *inferiortest.Patched) inferior.Inferior {
			return &inferiortest.Lossy{Inferior: p, Pages: map[inferior.Addr]bool{pages[i]: true}}
		}})
	}
	return out
}

// aboutThreads are the lies about where threads are: a frame that is missing, a function that is not known, and another
// value of a variable.
func (o *observed) aboutThreads() (out []lie) {
	threads := o.threads
	for i := range threads {
		change := func(what string, f func(of *inferior.Thread)) {
			out = append(out, lie{fmt.Sprintf("thread %d %s", threads[i].Number, what), func(p *inferiortest.Patched) inferior.Inferior {
				others := slices.Clone(threads)
				others[i].Frames = slices.Clone(others[i].Frames)
				f(&others[i])
				return p.SetThreads(others...)
			}})
		}
		for k, frame := range threads[i].Frames {
			name := fmt.Sprintf("frame %d, %s", k, frame.Function)
			change("without "+name, func(of *inferior.Thread) { of.Frames = slices.Delete(of.Frames, k, k+1) })
			change("with no name of "+name, func(of *inferior.Thread) { of.Frames[k].Function = "" })
			for _, variable := range slices.Sorted(maps.Keys(frame.Variables)) {
				for _, v := range []int64{0, -1, 1 << 40, frame.Variables[variable] + 1} {
					change(fmt.Sprintf("where %s of %s is %d", variable, name, v), func(of *inferior.Thread) {
						of.Frames[k].Variables = maps.Clone(of.Frames[k].Variables)
						of.Frames[k].Variables[variable] = v
					})
				}
				change(fmt.Sprintf("where %s of %s is not known", variable, name), func(of *inferior.Thread) {
					of.Frames[k].Variables = maps.Clone(of.Frames[k].Variables)
					delete(of.Frames[k].Variables, variable)
				})
			}
		}
	}
	return out
}

// size is how many bytes an object has at least.
func (x object) size() (size int) {
	for _, f := range x.members {
		size = max(size, f.Offset+f.Size)
	}
	return size
}

// about are the lies about one value.
func (o *observed) about(r *inferior.Reader, place string, at inferior.Addr, f layout.Field) (out []lie) {
	size := f.Size
	if f.Kind == layout.KindStruct || f.Kind == layout.KindArray || size != 1 && size != 2 && size != 4 && size != 8 {
		return nil
	}
	was, err := r.Uint(at, size)
	if err != nil {
		return nil
	}
	all := ^uint64(0) >> (64 - 8*size)
	values := []uint64{0, all, (was + 1) & all}
	if f.Kind == layout.KindPointer || f.Kind == "" {
		values = []uint64{0, 0x10}
	}
	for i, v := range values {
		if v == was || slices.Contains(values[:i], v) {
			continue
		}
		out = append(out, lie{fmt.Sprintf("%s is %#x, not %#x", place, v, was), func(p *inferiortest.Patched) inferior.Inferior {
			b := make([]byte, size)
			for i := range b {
				shift := 8 * i
				if p.Info().BigEndian {
					shift = 8 * (size - 1 - i)
				}
				b[i] = byte(v >> shift)
			}
			return p.PutBytes(at, b)
		}})
	}
	return out
}

// look is what is said of a process or, of one that has made handles, of these.
type look struct {
	*mqs.Process
	Handles []*mqs.Handle
}

func lookAt(t *testing.T, of inferior.Inferior, values []mqs.HandleValue) (l look) {
	t.Helper()
	var err error
	if len(values) > 0 {
		if l.Handles, err = (read.Sources{Decoders: decoders.All}).Handles(inferior.NewReader(t.Context(), of), values); err != nil {
			l.Process = read.Failed(of.Info(), err)
		}
	} else if l.Process, err = read.Read(t.Context(), of, decoders.All, read.Filter{}); err != nil {
		l.Process = read.Failed(of.Info(), err)
	}
	return l
}

// differ lists the places at which two values are not the same.
type differ struct {
	// layout is the name of the layout by which the unchanged process was read.
	layout string
	// found is called with each place and its values, of lists also with their lengths.
	found func(text string)
}

func (d differ) compare(place string, was, now reflect.Value) {
	switch was.Kind() {
	case reflect.Pointer:
		switch {
		case was.IsNil() && now.IsNil():
		case now.IsNil():
			d.found(place + ": none")
		case was.IsNil():
			d.compare(place, reflect.Zero(now.Type().Elem()), now.Elem())
		default:
			d.compare(place, was.Elem(), now.Elem())
		}
	case reflect.Struct:
		if was.FieldByName("Known").IsValid() {
			d.value(place, was, now)
			return
		}
		for i := range was.NumField() {
			name := was.Type().Field(i).Name
			if was.Type().Field(i).Anonymous {
				name = ""
			}
			d.compare(strings.Trim(place+"."+name, "."), was.Field(i), now.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if reflect.DeepEqual(was.Interface(), now.Interface()) {
			return // without the names of all places that are the same
		}
		if was.Len() != now.Len() {
			d.found(fmt.Sprintf("%s: %d, not %d", place, now.Len(), was.Len()))
		}
		for i := range now.Len() {
			at := fmt.Sprintf("%s[%d]", place, i)
			if was.Kind() == reflect.Array { // which only queues are in
				at = strings.TrimSuffix(place, "Queue") + mqs.OpClass(i).String()
			}
			before := reflect.Zero(now.Index(i).Type()) // of one that was not there
			if i < was.Len() {
				before = was.Index(i)
			}
			d.compare(at, before, now.Index(i))
		}
	default:
		d.value(place, was, now)
	}
}

// value compares two values that have no parts.
func (d differ) value(place string, was, now reflect.Value) {
	if !reflect.DeepEqual(was.Interface(), now.Interface()) {
		d.found(fmt.Sprintf("%s: %s, not %s", place, d.words(now), d.words(was)))
	}
}

// words are a value for people to read.
func (d differ) words(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Struct && v.FieldByName("Known").IsValid():
		if !v.FieldByName("Known").Bool() {
			return "not known"
		}
		return d.words(v.FieldByName("Value"))
	case v.Kind() == reflect.String:
		return fmt.Sprintf("%q", withoutReleases(v.String(), d.layout))
	}
	return fmt.Sprint(v)
}

// knownReleases is how an error lists the releases of which there are tables, and its advice.
var knownReleases = regexp.MustCompile(`that mpi-queues knows \(.*?\) (does|fits): .*`)

// withoutReleases leaves out of an error which releases have tables, and why those of releases other than the process's
// own do not fit: a new release changes the texts of no other one.
func withoutReleases(text, own string) string {
	if !knownReleases.MatchString(text) {
		return text
	}
	reasons := strings.Split(knownReleases.ReplaceAllString(text, "that mpi-queues knows $1"), "\nthe layout of ")
	return strings.Join(slices.DeleteFunc(reasons, func(reason string) bool {
		return reason != reasons[0] && !strings.HasPrefix(reason, own+": ")
	}), "\nthe layout of ")
}

// described says what is shown otherwise than before, in a few lines. Each sentence on what is missing is among them, once.
func described(was, now look) string {
	const most, width = 3, 200
	var b strings.Builder
	n, left := 0, 0
	sentences := map[string]bool{} // that are in b
	d := differ{found: func(text string) {
		place, is, _ := strings.Cut(text, ": ")
		isNew := (strings.HasSuffix(place, "Unavailable") || strings.Contains(place, "Notes[")) && !sentences[is]
		sentences[is] = true
		if n++; n > most && !isNew {
			left++
			return
		}
		if len(text) > width {
			text = text[:width] + "…"
		}
		b.WriteString("\n  " + text)
	}}
	if was.Process != nil {
		d.layout = was.LayoutName
	}
	d.compare("", reflect.ValueOf(was), reflect.ValueOf(now))
	switch {
	case n == 0:
		return " the same\n"
	case left > 0:
		fmt.Fprintf(&b, "\n  and %d more", left)
	}
	return b.String() + "\n"
}

// liedOf are the recordings of which lies are told. A pattern says about which types, and about what else: what no other
// recording of the library has.
var liedOf = []struct{ folder, name, types string }{
	{"openmpi-4.1.4", "queues-rank-0", ""},
	{"openmpi-4.1.4", "handles-rank-0", "win|file|info|errhandler|_op_t|group|osc|topo|dpm|message|datatype|hash|pages"},
	{"openmpi-4.1.4", "requests-rank-0", "words|threads|request"},
	{"openmpi-4.1.4", "barrier-rank-0", "threads"},
	{"openmpi-6.0.0rc2-ucx", "queues-new-rank-0", "^(uc|mca_pml_ucx)|threads|pages"},
	{"openmpi-4.1.4-ucx", "queues-old-rank-0", "^ucp_req"},
	{"mpich-4.0.2-ch3", "queues-rank-0", ""},
	{"mpich-4.0.2-ch3", "handles-rank-0", "Win|Info|Errhandler|Op|Group|Topology|Datatype|File|ADIO|pages"},
	{"mpich-4.0.2-ch3-debug", "barrier-rank-0", "threads"},
	{"mpich-4.0.2-ch4-ucx", "queues-rank-0", "^MPIDI|MPIR_Req|symbols|pages"},
	{"mpich-4.0.2-ch4-ucx", "requests-rank-0", "threads|MPIR_Request"},
	{"mpich-4.0.2-ch4-debug", "queues-rank-1", "^MPIDI|^fi|pages"},
	{"mpich-4.0.2-ch4-debug", "recv-rank-0", "threads"},
	{"mpich-4.2.1-stock", "queues-rank-0", "MPI|ucp_request_t|symbols|pages"},
	{"mpich-4.2.1-stock", "recv-rank-0", "threads"},
	{"mpich-4.2.1-stock", "requests-rank-0", "MPI|threads|words"},
}

// TestLies checks that what is shown of a process in which one thing is otherwise is what that thing means. A run tries a
// third of the lies.
func TestLies(t *testing.T) {
	for _, folder := range folders(t) {
		t.Run(folder, func(t *testing.T) {
			for _, of := range liedOf {
				if of.folder == folder {
					t.Run(of.name, func(t *testing.T) {
						t.Parallel()
						tellLies(t, filepath.Join(folder, of.name), regexp.MustCompile(of.types))
					})
				}
			}
		})
	}
}

func tellLies(t *testing.T, name string, types *regexp.Regexp) {
	sample.LogSeed(t)
	of := open(t, name+".mpiq").Processes[0]
	var values []mqs.HandleValue
	for _, e := range handlesOf(t, name) {
		values = append(values, valueOf(t, &e))
	}
	o := observe(of)
	was := lookAt(t, o, values)
	describe := func(l lie) string {
		return fmt.Sprintf("%s:%s", l.what, described(was, lookAt(t, l.change(inferiortest.Patch(of)), values)))
	}
	file, all := name+".lies.txt", o.lies(t, types)
	if *update {
		var text bytes.Buffer
		for _, l := range all {
			text.WriteString(describe(l))
		}
		compare(t, file, text.Bytes())
		return
	}
	known := toldLies(t, file)
	for i, l := range all {
		if i >= len(known) || !strings.HasPrefix(known[i], l.what+":") {
			t.Fatalf("%s does not have lie %d of %d, %q, there: -update writes them", file, i, len(all), l.what)
		}
		if !sample.Chosen(name, i, 3) {
			continue
		}
		if got := describe(l); got != known[i] {
			t.Errorf("%s: got\n%swant\n%s", file, got, known[i])
		}
	}
	if len(known) > len(all) {
		t.Errorf("%s has %d lies, want %d", file, len(known), len(all))
	}
}

// toldLies are what a file has of each lie: a line that begins with no space, and what follows it.
func toldLies(t *testing.T, file string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "  ") && len(out) > 0 {
			out[len(out)-1] += line
		} else {
			out = append(out, line)
		}
	}
	return out
}

// TestReleasesInErrors checks that the error for a process that no layout fits names the nearest one alone, and why that does not fit.
func TestReleasesInErrors(t *testing.T) {
	for _, c := range []struct{ name, symbol, nearest string }{
		{"openmpi-4.1.4/queues-rank-0", "ompi_mpi_communicators", "the layout of Open MPI 4.1.4"},
		{"mpich-4.0.2-ch3/queues-rank-0", "MPIR_Comm_mem", "its debug information"},
		{"mpich-4.0.2-ch4-ucx-static/queues-rank-0", "MPIR_Comm_mem", "the layout of MPICH"},
	} {
		p := inferiortest.Patch(open(t, c.name+".mpiq").Processes[0]).SetSymbol(c.symbol, inferior.Symbol{Addr: 0x10, Object: "libmpi.so"})
		text := lookAt(t, p, nil).Unavailable
		if !strings.Contains(text, "the nearest is "+c.nearest) || strings.Count(text, "the layout of ") > 1 || strings.Contains(text, "\n") {
			t.Errorf("%q does not say why %s alone does not fit", text, c.nearest)
		}
	}
}
