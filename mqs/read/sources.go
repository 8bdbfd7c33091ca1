package read

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/compare"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Choice says where queues may be read from.
type Choice string

// The choices.
const (
	// Auto is the native decoder where there is one that can read the process, else the vendor's DLL.
	Auto   Choice = "auto"
	Native Choice = "native"
	DLL    Choice = "dll"
	// Both shows what the native decoder reads, and where the DLL differs.
	Both Choice = "both"
)

// ParseChoice reads a choice as users write it.
func ParseChoice(name string) (Choice, error) {
	switch c := Choice(name); c {
	case Auto, Native, DLL, Both:
		return c, nil
	}
	return "", fmt.Errorf("there is no source %q: it is auto, native, dll or both", name)
}

// Sources are the ways to read a process.
type Sources struct {
	Decoders []Decoder
	// OpenDLL opens a process by its vendor's DLL; native is what a decoder
	// makes of it, or nil. It fails with [ErrNoDLL] if the process names none,
	// and with an [*UnreadableError] if none can be used. It may be nil.
	OpenDLL func(r *inferior.Reader, native Source) (Source, error)
	// Log is told why no layout fits a process: a reason for each table without options. It may be nil.
	Log func(why error)
}

// ErrNoDLL means that there is no vendor's DLL to try.
var ErrNoDLL = errors.New("no queue DLL was found")

// Read collects what the filter keeps of one stopped process, from where the choice says. A
// decoder that fails in itself, as on memory that nobody has thought of, is an
// [*UnreadableError] too.
func (ss Sources) Read(r *inferior.Reader, choice Choice, f Filter) (*mqs.Process, error) {
	o := ss.open(r)
	switch choice {
	case DLL:
		return o.readDLL(f)
	case Both:
		return o.readBoth(f)
	}
	p, err := o.readNative(f)
	var u *UnreadableError
	switch {
	case !errors.As(err, &u) || u.Final || r.Err() != nil:
		return p, err
	case choice == Native:
		return o.readRest(err, f)
	}
	byDLL, dllErr := o.readDLL(f)
	var noComm *NoSuchCommunicatorError
	switch {
	case dllErr == nil:
		byDLL.MPI = cmp.Or(byDLL.MPI, u.MPI)
		if u.MPI != "" {
			byDLL.Note("this is what the vendor's DLL says, since the native decoder can't read the process: %s", u.Reason)
		}
		return byDLL, nil
	case errors.Is(dllErr, ErrNoDLL):
		return o.readRest(err, f)
	case errors.As(dllErr, &noComm), r.Err() != nil:
		return nil, dllErr
	}
	return o.readRest(withRest(Unreadable(u.MPI, "%s%s%w", u.Reason, neitherDLL, dllErr), u.Rest), f)
}

// withRest adds to the error of a process that nobody can read what is known without its queues.
func withRest(err error, rest Source) error {
	var u *UnreadableError
	if errors.As(err, &u) {
		u.Rest = rest
	}
	return err
}

// readRest shows what is known of a process that nobody can read, if that is anything; else it returns the error that says why.
func (o *opened) readRest(why error, f Filter) (p *mqs.Process, err error) {
	defer contain(&err)
	var u *UnreadableError
	if !errors.As(why, &u) || u.Rest == nil {
		return nil, why
	}
	if p, err = Collect(o.r, u.Rest, f); err == nil {
		p.Note("%s", u.Reason)
	}
	return p, err
}

// Describe says what is known of a process, and where its queues would be read
// from, without reading them. That they can't be read is no error here.
func (ss Sources) Describe(r *inferior.Reader, choice Choice) (p *mqs.Process, err error) {
	defer contain(&err)
	o := ss.open(r)
	if r.Err() != nil {
		return nil, r.Err()
	}
	native, nativeErr := o.native, o.nativeErr
	var u *UnreadableError
	final := errors.As(nativeErr, &u) && u.Final
	switch {
	case nativeErr == nil:
		p = described(r, native)
	case u != nil && u.Rest != nil:
		p = described(r, u.Rest)
		p.Note("%s", u.Reason)
	default:
		p = Failed(r.Info(), nativeErr)
	}
	if choice == Native || choice == Auto && nativeErr == nil || choice != DLL && final || ss.OpenDLL == nil {
		return p, nil
	}
	s, err := ss.OpenDLL(r, native)
	if r.Err() != nil {
		return nil, r.Err()
	}
	if err != nil {
		switch {
		case choice == DLL:
			p.Unavailable = err.Error()
		case choice == Both && native != nil:
			p.Note("%v", err)
		case errors.Is(err, ErrNoDLL):
		case p.Unavailable != "":
			p.Unavailable += neitherDLL + err.Error()
		default:
			p.Note("%v", err)
		}
		return p, nil
	}
	byDLL := described(r, s)
	if choice == Both && native != nil {
		comparedWith(p, byDLL)
		return p, nil
	}
	adopt(byDLL, p)
	return byDLL, nil
}

// described is what a source knows of a process without reading its queues.
func described(r *inferior.Reader, s Source) *mqs.Process {
	p := Identity(r.Info())
	s.Info(p)
	p.Notes = append(p.Notes, s.Notes()...)
	return p
}

// neitherDLL joins the reasons of a native decoder and of a DLL.
const neitherDLL = ".\nNor can the vendor's DLL: "

// adopt takes over what a native decoder knows of a process that a DLL has read.
func adopt(p, native *mqs.Process) {
	p.MPI, p.MPIVersion, p.Library = native.MPI, native.MPIVersion, native.Library
	if !p.GlobalRank.Known {
		p.GlobalRank, p.WorldSize = native.GlobalRank, native.WorldSize
	}
}

// comparedWith makes of a process that was read natively one that a DLL has read too.
func comparedWith(p, byDLL *mqs.Process) {
	if byDLL.DLL == "" {
		p.Note("the program asks debuggers not to show its queues, so no DLL was asked and there is nothing to compare with")
		return
	}
	p.Source, p.DLL, p.DLLVersion = string(Both), byDLL.DLL, byDLL.DLLVersion
	for _, n := range byDLL.Notes {
		p.Note("%s", n)
	}
}

// opened is a process during one stop. Its decoder, which a DLL's reading needs too, is found once.
type opened struct {
	Sources
	r *inferior.Reader
	// native is nil if no decoder can read the process, and nativeErr why.
	native    Source
	nativeErr error
}

// open finds the process's decoder.
func (ss Sources) open(r *inferior.Reader) *opened {
	o := &opened{Sources: ss, r: r}
	func() {
		defer contain(&o.nativeErr)
		o.native, o.nativeErr = Open(r, ss.Decoders)
	}()
	if o.nativeErr != nil {
		o.native = nil
	}
	var noFit *inferior.NoFitError
	if ss.Log != nil && errors.As(o.nativeErr, &noFit) {
		ss.Log(noFit.Why)
	}
	return o
}

// readNative reads by the decoder.
func (o *opened) readNative(f Filter) (p *mqs.Process, err error) {
	defer contain(&err)
	if o.nativeErr != nil {
		return nil, o.nativeErr
	}
	return Collect(o.r, o.native, f)
}

// readDLL reads by the vendor's DLL alone. A native decoder that knows the MPI
// helps with what only it knows, such as the layouts of a stripped library.
func (o *opened) readDLL(f Filter) (p *mqs.Process, err error) {
	defer contain(&err)
	if o.OpenDLL == nil {
		return nil, Unreadable("", "%w", ErrNoDLL)
	}
	known := Identity(o.r.Info())
	if o.native != nil {
		o.native.Info(known)
	}
	if err := o.r.Err(); err != nil {
		return nil, err
	}
	r := unspent(o.r)
	s, err := o.OpenDLL(r, o.native)
	if err != nil {
		return nil, err
	}
	if p, err = Collect(r, s, f); err == nil {
		adopt(p, known)
	}
	return p, err
}

// unspent returns a process's reader or, if that has used up what may be made of the process, a
// fresh one: what nobody could read may be readable for another.
func unspent(r *inferior.Reader) *inferior.Reader {
	if r.Spent() == nil {
		return r
	}
	return inferior.NewReader(r.Context(), r.Inferior())
}

// readBoth reads twice, and says where the DLL differs.
func (o *opened) readBoth(f Filter) (*mqs.Process, error) {
	whole := f
	// The two may not have the same names, nor does the DLL know what is internal.
	whole.Comm, whole.Internal, whole.Limit, whole.NoQueues = "", true, 0, false
	native, err := o.readNative(whole)
	var u *UnreadableError
	if o.r.Err() != nil || err != nil && (!errors.As(err, &u) || u.Final) {
		return nil, err
	}
	byDLL, dllErr := o.readDLL(whole)
	switch {
	case o.r.Err() != nil:
		return nil, dllErr
	case err != nil && errors.Is(dllErr, ErrNoDLL) && u.Rest != nil:
		return o.readRest(err, f)
	case err != nil && dllErr != nil:
		return o.readRest(withRest(Unreadable(u.MPI, "%w%s%w", err, neitherDLL, dllErr), u.Rest), f)
	case err != nil:
		byDLL.MPI = cmp.Or(byDLL.MPI, u.MPI)
		byDLL.Note("the native decoders can't read the process, so there is nothing to compare with: %v", err)
		return filtered(byDLL, f)
	case dllErr != nil:
		native.Note("the vendor's DLL can't read the process, so there is nothing to compare with: %v", dllErr)
		return filtered(native, f)
	case byDLL.DLL == "":
		comparedWith(native, byDLL)
		return filtered(native, f)
	}
	native.Differences = compare.Compare(native, byDLL, f.Comm, f.Internal)
	comparedWith(native, byDLL)
	if more := len(native.Differences) - f.Limit; f.Limit > 0 && more > 0 {
		native.Differences = native.Differences[:f.Limit]
		native.Note("%d more differences are not shown (-limit)", more)
	}
	return filtered(native, f)
}

// filtered drops what a filter does not keep and [Collect] has kept for
// comparison. It fails as Collect does if nobody knows the filter's communicator.
func filtered(p *mqs.Process, f Filter) (*mqs.Process, error) {
	var there []string
	kept := p.Communicators[:0]
	for _, c := range p.Communicators {
		if c.Internal && !f.Internal {
			continue
		}
		there = append(there, listed(&c.Communicator))
		if !f.keeps(&c.Communicator, p.Inferior) {
			continue
		}
		for _, q := range c.Queue {
			if q != nil {
				filterQueue(q, f)
			}
		}
		kept = append(kept, c)
	}
	p.Communicators = kept
	if f.Comm != "" && len(kept) == 0 && len(p.Differences) == 0 {
		return nil, &NoSuchCommunicatorError{f.Comm, there}
	}
	return p, nil
}

// listed is the communicator in a [NoSuchCommunicatorError].
func listed(c *mqs.Communicator) string { return fmt.Sprintf("%q (%s)", c.Name.Value, c.UniqueID) }

func filterQueue(q *mqs.Queue, f Filter) {
	kept := q.Operations[:0]
	for _, op := range q.Operations {
		if !op.Internal || f.Internal {
			kept = append(kept, op)
		}
	}
	q.Operations, q.Total = kept, len(kept)
	if f.Limit > 0 && q.Total > f.Limit {
		q.Operations = kept[:f.Limit]
	}
}
