package inferior

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/internal/frugal"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// A Recorder passes everything on to an inferior and remembers the answers. Of
// memory it remembers what a [Reader] has handed out, not what the cache has
// brought along: that may be anything, the environment of the process included.
type Recorder struct {
	Inferior
	log  processLog
	used map[Addr][]byte // the longest of those that start there
}

// NewRecorder starts recording what is asked of t through it.
func NewRecorder(t Inferior) *Recorder {
	return &Recorder{Inferior: t, used: map[Addr][]byte{}, log: processLog{Process: t.Info(), Symbols: map[string]*Symbol{}, Types: map[string]*layout.Layout{}}}
}

// Seat remembers the process's rank and the size of its job, as its launcher says, and the software that the launcher belongs to.
func (r *Recorder) Seat(rank, size *int32, launcher string) {
	r.log.Process.Rank, r.log.Process.WorldSize, r.log.Process.Launcher = rank, size, launcher
}

// use remembers memory that a reader has handed out.
func (r *Recorder) use(a Addr, b []byte) {
	if len(b) > len(r.used[a]) {
		r.used[a] = b
	}
}

// pieces returns what was used, in order and apart.
func (r *Recorder) pieces() []extent {
	var out []extent
	for _, start := range slices.Sorted(maps.Keys(r.used)) {
		k, e := len(out)-1, extent{start, r.used[start]}
		if k < 0 || e.start > out[k].end() {
			out = append(out, extent{e.start, slices.Clone(e.data)})
		} else if e.end() > out[k].end() {
			out[k].data = append(out[k].data, e.data[out[k].end()-e.start:]...)
		}
	}
	return out
}

// processLog is what a recording holds of one process.
type processLog struct {
	Process Info `json:"process"`
	// Symbols and Types hold null for what was asked for and is not there.
	Symbols map[string]*Symbol        `json:"symbols"`
	Types   map[string]*layout.Layout `json:"types"`
	// Threads are all threads, nil if nobody asked.
	Threads []Thread `json:"threads"`
	// Memory lists the pieces that stand, one after the other, in the file "memory".
	Memory []piece `json:"memory"`
}

type piece struct {
	Addr Addr `json:"address"`
	Len  int  `json:"length"`
}

// recording is the JSON part of a recording's file.
type recording struct {
	// Recording is the version of the format.
	Recording int           `json:"recording"`
	Processes []*processLog `json:"processes"`
}

const recordingVersion = 1

// The files of the archive.
const (
	indexFile  = "recording.json"
	memoryFile = "memory"
)

// FindSymbols is [Inferior.FindSymbols].
func (r *Recorder) FindSymbols(ctx context.Context, names []string) ([]*Symbol, error) {
	got, err := r.Inferior.FindSymbols(ctx, names)
	for i, s := range got {
		r.log.Symbols[names[i]] = s
	}
	return got, err
}

// FindTypes is [Inferior.FindTypes].
func (r *Recorder) FindTypes(ctx context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	got, err := r.Inferior.FindTypes(ctx, queries)
	for i, l := range got {
		r.log.Types[queries[i].Name] = l
	}
	return got, err
}

// Threads is [Inferior.Threads].
func (r *Recorder) Threads(ctx context.Context, depth int, variables []string) ([]Thread, error) {
	got, err := r.Inferior.Threads(ctx, depth, variables)
	r.log.Threads = got
	return got, err
}

// WriteRecording writes what the recorders saw: a zip archive of the files "recording.json" and
// "memory", whose pieces the first lists with their lengths. more may add files to it, for those who
// know more of the processes.
func WriteRecording(w io.Writer, recorders []*Recorder, more ...func(*zip.Writer) error) error {
	z := zip.NewWriter(w)
	memory, err := z.Create(memoryFile)
	if err != nil {
		return err
	}
	doc := recording{Recording: recordingVersion}
	for _, r := range recorders {
		log := r.log
		for _, e := range r.pieces() {
			log.Memory = append(log.Memory, piece{e.start, len(e.data)})
			if _, err := memory.Write(e.data); err != nil {
				return err
			}
		}
		doc.Processes = append(doc.Processes, &log)
	}
	index, err := z.Create(indexFile)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(index).Encode(doc); err != nil {
		return err
	}
	for _, add := range more {
		if err := add(z); err != nil {
			return err
		}
	}
	return z.Close()
}

// ErrNotRecording means that a file is not a recording that this version reads.
var ErrNotRecording = errors.New("not a recording of mpi-queues")

// ErrLacks means that a recording has no file of some name, as older ones may not.
var ErrLacks = errors.New("it lacks a file")

// What a file of a recording may unpack to, in bytes.
const (
	maxRecorded = int64(4 << 30)   // the file "memory"
	maxDocument = int64(256 << 20) // any other file
	// A file unpacks to no more than freeUnpacked and maxPacked times its packed size, which honest
	// ones stay far below.
	freeUnpacked = int64(16 << 20)
	maxPacked    = 256
)

// Archive is the files of a recording, which a stranger may have made.
type Archive struct {
	files []*zip.File
	size  int64
}

// OpenArchive opens a recording's files. It fails with [ErrNotRecording] if there are none.
func OpenArchive(r io.ReaderAt, size int64) (*Archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRecording, err)
	}
	return &Archive{z.File, size}, nil
}

// part opens one of the files. most is how many of its bytes may be read, which is limit or fewer, and
// packed how many it is packed to; no file is packed to more than there is of the whole recording. It
// fails with [ErrLacks] if there is none of that name.
func (a *Archive) part(name string, limit int64) (f io.ReadCloser, most, packed int64, _ error) {
	i := slices.IndexFunc(a.files, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return nil, 0, 0, fmt.Errorf("%w: %s", ErrLacks, name)
	}
	packed = int64(min(a.files[i].CompressedSize64, uint64(a.size)))
	f, err := a.files[i].Open()
	return f, min(limit, freeUnpacked+maxPacked*packed), packed, err
}

// Document calls read with one of the files, which is JSON or another text. It fails with
// [ErrLacks] if there is none of that name.
func (a *Archive) Document(name string, read func(io.Reader) error) error {
	f, most, packed, err := a.part(name, maxDocument)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := read(frugal.Unpacked(io.LimitReader(f, most), packed)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Processes reads the processes of a recording back.
func (a *Archive) Processes() ([]Inferior, error) {
	var doc recording
	if err := a.Document(indexFile, func(r io.Reader) error { return json.NewDecoder(r).Decode(&doc) }); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRecording, err)
	}
	if doc.Recording != recordingVersion {
		return nil, fmt.Errorf("%w: its format is %d, not %d", ErrNotRecording, doc.Recording, recordingVersion)
	}
	memory, left, _, err := a.part(memoryFile, maxRecorded)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRecording, err)
	}
	defer func() { _ = memory.Close() }()
	var out []Inferior
	for _, log := range doc.Processes {
		t, err := newReplay(log, memory, left)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotRecording, err)
		}
		left -= t.held
		out = append(out, t)
	}
	return out, nil
}

// ReadRecording reads the processes of a recording back.
func ReadRecording(r io.ReaderAt, size int64) ([]Inferior, error) {
	a, err := OpenArchive(r, size)
	if err != nil {
		return nil, err
	}
	return a.Processes()
}
