package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"io"
	"reflect"
	"runtime"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

// A message that says that it has more than there is of it. Its types are not those of
// this package: whoever writes to the stream says what they are.
type fromAnybody struct{ Reply *reply }

type reply struct {
	Opened *Opened
	Faults map[string]int // a map where the helper has something else
	Other  map[string]int // one that it does not know
	Notes  []string
	Raw    []byte
}

// text is in the messages once, as their only element.
const text = "boom"

// inflated is a message with one element whose number of elements or bytes is n.
func inflated(t testing.TB, r reply, n uint64) []byte {
	var stream bytes.Buffer
	if err := gob.NewEncoder(&stream).Encode(fromAnybody{&r}); err != nil {
		t.Fatal(err)
	}
	// Definitions of types, and then the value: each message begins with its length, here
	// of one byte or two.
	var definitions, value []byte
	for rest := stream.Bytes(); len(rest) > 0; {
		length, width := int(rest[0]), 1
		if rest[0] == 0xff {
			length, width = int(rest[1]), 2
		}
		definitions, value = append(definitions, value...), rest[:width+length]
		rest = rest[width+length:]
	}
	body := value[1:]
	at := bytes.Index(body, []byte(text))
	if r.Raw == nil {
		at-- // behind the length of the text
	}
	count := append([]byte{^byte(7)}, binary.BigEndian.AppendUint64(nil, n)...)
	body = append(append(append([]byte{}, body[:at-1]...), count...), body[at:]...)
	return append(append(definitions, byte(len(body))), body...)
}

func receive(stream []byte) (FromHost, error) {
	c := NewConn[ToHost, FromHost](struct {
		io.Reader
		io.Writer
	}{bytes.NewReader(stream), io.Discard})
	return c.Receive()
}

// What a message says of its own size costs nothing.
func TestInflatedMessages(t *testing.T) {
	for name, r := range map[string]reply{
		"a map":           {Faults: map[string]int{text: 1}},
		"an unknown map":  {Other: map[string]int{text: 1}},
		"a list of texts": {Notes: []string{text}},
		"bytes":           {Raw: []byte(text)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []uint64{1 << 20, 1 << 24, 1 << 27, 1 << 33, 1 << 62} {
				message := inflated(t, r, n)
				cost.AtMost(t, 2*maxMessage, func() {
					if got, err := receive(message); err == nil {
						t.Errorf("%d elements in %d bytes are received: %v", n, len(message), got)
					}
				})
			}
		})
	}
}

// definitions are messages that define so many types, which are lists of numbers (package
// encoding/gob, "Encoding Details"): a length, the type's number as a negative one, and a
// wireType whose SliceT has that number and those of its elements' type.
func definitions(n int) []byte {
	number := func(b []byte, v int) []byte {
		u := uint64(v) << 1
		if v < 0 {
			u = uint64(^v)<<1 | 1
		}
		if u < 1<<7 {
			return append(b, byte(u))
		}
		return binary.BigEndian.AppendUint32(append(b, 0xfc), uint32(u))
	}
	const first, ofInt = 1 << 20, 2
	var out []byte
	for id := first; id < first+n; id++ {
		b := append(number(nil, -id), 2, 1, 2)
		b = append(number(b, id), 0, 1)
		b = append(number(b, ofInt), 0, 0)
		out = append(append(out, byte(len(b))), b...)
	}
	return out
}

// Types that a message defines are not kept behind it: a host sends messages for as long as
// the helper lives.
func TestTypesAreForgotten(t *testing.T) {
	const messages, types = 100, 5000
	var message bytes.Buffer
	message.Write(definitions(types))
	if err := gob.NewEncoder(&message).Encode(FromHost{Ask: &Ask{Symbols: []string{text}}}); err != nil {
		t.Fatal(err)
	}
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	stream := bytes.NewReader(bytes.Repeat(message.Bytes(), messages))
	c := NewConn[ToHost, FromHost](struct {
		io.Reader
		io.Writer
	}{stream, io.Discard})
	before := live()
	for i := range messages {
		if m, err := c.Receive(); err != nil || m.Ask == nil || m.Ask.Symbols[0] != text {
			t.Fatalf("message %d: %+v, %v", i, m, err)
		}
	}
	if after := live(); after > before+4<<20 {
		t.Errorf("%d messages leave %d KiB behind", messages, (after-before)>>10)
	}
	runtime.KeepAlive(c)
}

// No map is in what the helper receives.
func TestNoMaps(t *testing.T) {
	var look func(path string, of reflect.Type)
	look = func(path string, of reflect.Type) {
		switch of.Kind() {
		case reflect.Map, reflect.Interface:
			t.Errorf("%s is a %s", path, of)
		case reflect.Pointer, reflect.Slice, reflect.Array:
			look(path, of.Elem())
		case reflect.Struct:
			for i := range of.NumField() {
				look(path+"."+of.Field(i).Name, of.Field(i).Type)
			}
		}
	}
	look("FromHost", reflect.TypeFor[FromHost]())
}

// Whatever comes is an error or a message, and costs no more than its length allows.
func FuzzReceive(f *testing.F) {
	for _, m := range []FromHost{
		{Ask: &Ask{Symbols: []string{"MPIR_dll_name"}}},
		{Reply: &Reply{Loaded: &Loaded{Version: "1"}, Faults: []Fault{{"did wrong", 2}}}},
		{Reply: &Reply{Communicator: &Communicator{Raw: make([]byte, 88), Group: make([]byte, 8)}}},
	} {
		var stream bytes.Buffer
		if err := gob.NewEncoder(&stream).Encode(m); err != nil {
			f.Fatal(err)
		}
		f.Add(stream.Bytes())
	}
	f.Add(inflated(f, reply{Notes: []string{text}}, 1<<40))
	f.Fuzz(func(t *testing.T, stream []byte) {
		cost.AtMost(t, cost.Most, func() { _, _ = receive(stream) })
	})
}
