package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// This file serves the call-backs that need the debugger: symbols, types, memory.

func (h *host) findFunction(handle, name, lang, result uintptr) uintptr {
	const callback = "mqs_find_function"
	i := h.imageOf(callback, handle)
	s, ok := h.text(callback, name)
	if i == nil || !ok {
		return abi.NoInformation
	}
	for _, n := range functionNames(s, abi.LangCode(lang)) {
		if at := h.symbol(i, n); at != nil {
			return h.storeAddress(callback, at, result)
		}
	}
	return abi.NoInformation
}

func (h *host) findSymbol(handle, name, result uintptr) uintptr {
	const callback = "mqs_find_symbol"
	i := h.imageOf(callback, handle)
	s, ok := h.text(callback, name)
	if i == nil || !ok {
		return abi.NoInformation
	}
	if at := h.symbol(i, s); at != nil {
		return h.storeAddress(callback, at, result)
	}
	return abi.NoInformation
}

// storeAddress stores an address for the DLL. A DLL that gives no place for it only asks whether the
// symbol exists.
func (h *host) storeAddress(callback string, s *inferior.Symbol, result uintptr) uintptr {
	if result != 0 && !value(result, abi.TaddrT(s.Addr)) {
		h.badPointer(callback, result)
		return abi.NoInformation
	}
	return abi.OK
}

// symbol looks a symbol up, once for each image.
func (h *host) symbol(i *image, name string) *inferior.Symbol {
	if s, ok := i.symbols[name]; ok {
		return s
	}
	if h.exceedsNameLimit(len(i.symbols)) || h.querySymbols(i, name) != nil {
		return nil
	}
	return i.symbols[name]
}

// exceedsNameLimit says whether a DLL has asked for more names than a sane DLL can have.
func (h *host) exceedsNameLimit(names int) bool {
	const most = 1 << 14
	if names < most {
		return false
	}
	h.fault("asked for more than %d different names", most)
	return true
}

var errTooMany = errors.New("the DLL has asked for too many names")

var errOtherImage = errors.New("the process that is open is of another image")

// querySymbols asks for symbols of an image, in one question.
func (h *host) querySymbols(i *image, names ...string) error {
	if len(names) == 0 {
		return nil
	}
	if h.current == nil || h.current.image != i {
		return errOtherImage
	}
	found, err := helperInferior{h, h.current.target}.FindSymbols(context.Background(), names)
	if err != nil {
		return err
	}
	for k, name := range names {
		i.symbols[name] = found[k]
	}
	return nil
}

func (h *host) findType(handle, name, lang uintptr) uintptr {
	const callback = "mqs_find_type"
	i := h.imageOf(callback, handle)
	s, ok := h.text(callback, name)
	if i == nil || !ok {
		return 0
	}
	names := typeNames(s, abi.LangCode(lang))
	if h.describeTypes(i, names) != nil {
		return 0
	}
	for _, n := range names {
		if t := i.types[n]; t != nil {
			return uintptr(t.handle)
		}
	}
	h.noteMissing(s)
	return 0
}

// describeTypes asks for those types of an image that have not been asked for, in one question.
func (h *host) describeTypes(i *image, names []string) error {
	var queries []layout.TypeQuery
	for _, n := range names {
		if _, known := i.types[n]; !known {
			queries = append(queries, layout.TypeQuery{Name: n, Fields: h.words})
		}
	}
	if len(queries) == 0 {
		return nil
	}
	if h.exceedsNameLimit(len(i.types)) {
		return errTooMany
	}
	return h.describeAll(i, queries)
}

// describe asks for a type with members that it may have, beside those that
// the DLL's file has the names of.
func (h *host) describe(i *image, name string, members []string) error {
	return h.describeAll(i, []layout.TypeQuery{{Name: name, Fields: slices.Concat(h.words, members)}})
}

func (h *host) describeAll(i *image, queries []layout.TypeQuery) error {
	if h.current == nil || h.current.image != i {
		return errOtherImage
	}
	found, err := helperInferior{h, h.current.target}.FindTypes(context.Background(), queries)
	if err != nil {
		return err
	}
	for k, q := range queries {
		if found[k] == nil {
			i.types[q.Name] = nil
			continue
		}
		t := i.types[q.Name]
		if t == nil {
			t = h.newType(i, q.Name, layout.Layout{Size: found[k].Size, Fields: map[string]layout.Field{}})
		}
		maps.Copy(t.Fields, found[k].Fields)
		for _, f := range q.Fields {
			t.queried[f] = true
		}
	}
	return nil
}

// describeWords asks for all types that the DLL's file has the names of, in one question.
func (h *host) describeWords(i *image) error {
	if len(h.words) == 0 {
		return nil
	}
	queries := make([]layout.TypeQuery, len(h.words), len(h.words)+len(integers))
	for k, w := range h.words {
		queries[k] = layout.TypeQuery{Name: w, Fields: h.words}
	}
	for _, name := range integers {
		queries = append(queries, layout.TypeQuery{Name: name})
	}
	return h.describeAll(i, queries)
}

func (h *host) fieldOffset(handle, name uintptr) uintptr {
	const callback = "mqs_field_offset"
	t := h.typeOf(callback, handle)
	s, ok := h.text(callback, name)
	if t == nil || !ok {
		return intFailure
	}
	if !t.queried[s] && h.exceedsNameLimit(len(t.queried)) || !t.queried[s] && h.describe(t.image, t.name, []string{s}) != nil {
		return intFailure
	}
	f, found := t.Fields[s]
	if !found {
		h.noteMissing(t.name + "." + s)
		return intFailure
	}
	return uintptr(f.Offset)
}

// noteMissing notes something that a DLL has asked for in vain.
func (h *host) noteMissing(what string) {
	const most = 100
	if what != "" && len(h.missing) < most && !slices.Contains(h.missing, what) {
		h.missing = append(h.missing, what)
	}
}

func (h *host) sizeof(handle uintptr) uintptr {
	if t := h.typeOf("mqs_sizeof", handle); t != nil {
		return uintptr(t.Size)
	}
	return intFailure
}

// integers are C's own, whose sizes the interface wants to know.
var integers = []string{"short", "int", "long", "long long"}

// getTypeSizes takes the sizes from the debugger, who has them from debug information or from
// the architecture. Where it has none, the ABIs of Unix hold: a long is as wide as a pointer.
func (h *host) getTypeSizes(handle, result uintptr) uintptr {
	const callback = "mqs_get_type_sizes"
	p := h.processOf(callback, handle)
	if p == nil {
		return 0
	}
	w := int32(p.target.PointerSize)
	sizes := abi.TargetTypeSizes{ShortSize: 2, IntSize: 4, LongSize: w, LongLongSize: 8, PointerSize: w}
	if h.describeTypes(p.image, integers) == nil {
		for k, at := range []*int32{&sizes.ShortSize, &sizes.IntSize, &sizes.LongSize, &sizes.LongLongSize} {
			const widest = 16
			if t := p.image.types[integers[k]]; t != nil && t.Size > 0 && t.Size <= widest {
				*at = int32(t.Size)
			}
		}
	}
	if !value(result, sizes) {
		h.badPointer(callback, result)
	}
	return 0
}

// maxFetch is the most that is fetched at once, in bytes.
const maxFetch = 256 << 20

func (h *host) fetchData(handle, addr, size, result uintptr) uintptr {
	const callback = "mqs_fetch_data"
	p, n := h.processOf(callback, handle), int32(size)
	switch {
	case p == nil:
		return abi.NoInformation
	case n < 0 || n > maxFetch:
		h.fault("called %s for %d bytes", callback, n)
		return abi.NoInformation
	case p != h.current:
		return abi.NoInformation // it may be running
	}
	data, err := p.reader.Bytes(inferior.Addr(addr), int(n))
	if err != nil {
		h.unread++
		return abi.NoInformation
	}
	if n > 0 && !put(result, data) {
		h.badPointer(callback, result)
		return abi.NoInformation
	}
	if n > 0 {
		h.leaf.keep(p, inferior.Addr(addr))
	}
	return abi.OK
}

// targetToHost turns a scalar into the host's byte order.
func (h *host) targetToHost(handle, in, out, size uintptr) uintptr {
	const callback = "mqs_target_to_host"
	p, n := h.processOf(callback, handle), int32(size)
	if p == nil {
		return 0
	}
	if n < 0 || n > maxFetch {
		h.fault("called %s for %d bytes", callback, n)
		return 0
	}
	data, ok := get(in, int(n))
	if !ok {
		h.fault("called %s with a pointer to nowhere for its input", callback)
		return 0
	}
	if p.target.BigEndian != hostIsBigEndian() {
		data = bytes.Clone(data)
		slices.Reverse(data)
	}
	if !put(out, data) {
		h.badPointer(callback, out)
	}
	return 0
}

// hostIsBigEndian says whether this program's most significant bytes come first.
func hostIsBigEndian() bool { return binary.NativeEndian.Uint16([]byte{0, 1}) == 1 }
