package document

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// reader makes the model of JSON as it reads it, with nothing in between: a document may have a
// hundred thousand processes. What is not there, or null, is not known. After an error it reads
// nothing.
type reader struct {
	*Parser
	from jsontext.Decoder
	text bytes.Buffer // that it reads from
	err  error        // the first one
	// key is the last member's, until something else is read.
	key []byte
	// none is true between null in place of an object, and the end of its members.
	none bool
	// plain is room for a string without its escapes.
	plain []byte
	// queues are those of the communicator at hand.
	queues queuesRead

	texts     store[string]
	numbers   store[int32]
	addresses store[inferior.Addr]
	members   store[*mqs.Queues]
	headers   store[mqs.Queue]
	stores
}

// fail ends the reading.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// value reads a value as it is written. It can be used until something else is read.
func (r *reader) value() jsontext.Value {
	if r.err != nil {
		return nil
	}
	text, err := r.from.ReadValue()
	if err != nil {
		r.fail(err)
		return nil
	}
	return text
}

// unfit says that the value that was read last can't be one that belongs there, nor may it be with err.
func (r *reader) unfit(text jsontext.Value, err error) {
	r.fail(&json.SemanticError{
		ByteOffset: r.from.InputOffset() - int64(len(text)), JSONPointer: r.from.StackPointer(), JSONKind: text.Kind(), Err: err,
	})
}

// begin begins an object or an array. It returns false of null, and of what is neither.
func (r *reader) begin(kind jsontext.Kind) bool {
	if r.err != nil {
		return false
	}
	if r.from.PeekKind() == kind {
		_, _ = r.from.ReadToken()
		return true
	}
	if text := r.value(); text.Kind() != 'n' {
		r.unfit(text, nil)
	}
	return false
}

// more says whether an object or an array has another member, and ends it if not.
func (r *reader) more(end jsontext.Kind) bool {
	if r.err != nil {
		return false
	}
	if r.from.PeekKind() == end {
		_, _ = r.from.ReadToken()
		return false
	}
	return true
}

// object begins an object. null has no members.
func (r *reader) object() { r.none = !r.begin('{') }

// member goes to the next member of an object, and returns false at its end.
func (r *reader) member() bool {
	if r.none {
		r.none = false
		return false
	}
	if !r.more('}') {
		return false
	}
	r.key = r.unquoted(r.value())
	return r.err == nil
}

// skip reads the value of a member that nobody knows.
func (r *reader) skip() {
	if r.err == nil {
		if err := r.from.SkipValue(); err != nil {
			r.fail(err)
		}
	}
}

// unquoted is the text of a string. What is not UTF-8 in it becomes U+FFFD.
func (r *reader) unquoted(text jsontext.Value) []byte {
	if len(text) < 2 {
		return nil
	}
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return text[1 : len(text)-1]
	}
	r.plain, _ = jsontext.AppendUnquote(r.plain[:0], text)
	return r.plain
}

// string reads a string. null stands for an empty one.
func (r *reader) string() []byte {
	switch text := r.value(); text.Kind() {
	case '"':
		return r.unquoted(text)
	case 'n':
	default:
		r.unfit(text, nil)
	}
	return nil
}

// number reads a number as it is written, nil if it is null.
func (r *reader) number() jsontext.Value {
	switch text := r.value(); text.Kind() {
	case '0':
		return text
	case 'n':
	default:
		r.unfit(text, nil)
	}
	return nil
}

func readText(r *reader, v *string) { *v = r.intern(r.string()) }

// readWord reads a string that is one of those words, or none.
func readWord[T ~string](r *reader, v *T, words ...T) {
	text := r.string()
	*v = ""
	for _, word := range words {
		if string(text) == string(word) {
			*v = word
		}
	}
}

func readBool(r *reader, v *bool) {
	switch text := r.value(); text.Kind() {
	case 't':
		*v = true
	case 'f', 'n':
		*v = false
	default:
		r.unfit(text, nil)
	}
}

func readInt[T int | int32 | int64](r *reader, v *T) {
	*v = 0
	if text := r.number(); text != nil {
		n, err := strconv.ParseInt(string(text), 10, 8*int(unsafe.Sizeof(*v)))
		if *v = T(n); err != nil {
			r.unfit(text, errors.Unwrap(err))
		}
	}
}

func readUint(r *reader, v *uint64) {
	*v = 0
	if text := r.number(); text != nil {
		var err error
		if *v, err = strconv.ParseUint(string(text), 10, 64); err != nil {
			r.unfit(text, errors.Unwrap(err))
		}
	}
}

func readAddr(r *reader, v *inferior.Addr) {
	if text := r.value(); r.err == nil {
		if err := v.UnmarshalJSON(text); err != nil {
			r.unfit(text, err)
		}
	}
}

// readHex reads a number that is written as an address.
func readHex(r *reader, v *uint64) { readAddr(r, (*inferior.Addr)(v)) }

// readMaybe reads a value that may be null.
func readMaybe[T any](r *reader, v *mqs.Maybe[T], read func(*reader, *T)) {
	*v = mqs.Maybe[T]{}
	if r.err == nil && r.from.PeekKind() == 'n' {
		r.value()
		return
	}
	read(r, &v.Value)
	v.Known = true
}

// readTuple reads a list of as many numbers.
func readTuple(r *reader, numbers []int32) {
	if !r.begin('[') {
		return
	}
	n := 0
	for ; r.more(']'); n++ {
		if n < len(numbers) {
			readInt(r, &numbers[n])
		} else {
			r.skip()
		}
	}
	if n != len(numbers) && r.err == nil {
		r.unfit(jsontext.Value("[]"), errors.New("it has "+strconv.Itoa(n)+" elements, not "+strconv.Itoa(len(numbers))))
	}
}

// readList reads a list, which is nil if it is null. No element has lists of such elements.
func readList[T any](r *reader, s *store[T], read func(*reader, *T)) []T {
	if !r.begin('[') {
		return nil
	}
	for r.more(']') {
		var element T
		s.pending = append(s.pending, element)
		read(r, &s.pending[len(s.pending)-1])
	}
	return s.keep()
}

// some is a list that has something in it, else nil.
func some[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// pointers is a list of what another one has.
func pointers[T any](s *store[*T], list []T) []*T {
	out := s.room(len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// blockSize is about how many bytes are allocated at once for small things.
const blockSize = 32 << 10

// store keeps the elements of lists close to each other: a hundred thousand processes have a million
// of them, and what is allocated by itself is rounded up.
type store[T any] struct {
	pending []T // of the list at hand
	block   []T // not used yet
	size    int // of the last block
}

// room returns room for n elements.
func (s *store[T]) room(n int) []T {
	if n == 0 {
		return []T{}
	}
	if n > len(s.block) {
		var element T
		most := blockSize / int(unsafe.Sizeof(element))
		if n > most/4 {
			return make([]T, n)
		}
		s.size = min(max(2*s.size, n), most)
		s.block = make([]T, s.size)
	}
	out := s.block[:n:n]
	s.block = s.block[n:]
	return out
}

// keep returns the list at hand, which has come to its end.
func (s *store[T]) keep() []T {
	out := s.room(len(s.pending))
	copy(out, s.pending)
	clear(s.pending)
	s.pending = s.pending[:0]
	return out
}

// end reads what follows a process, which is nothing.
func (r *reader) end() {
	if r.err != nil {
		return
	}
	if _, err := r.from.ReadToken(); err != io.EOF {
		r.fail(err)
	}
}
