package pyframes

import (
	"encoding/binary"
	"errors"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Frame is a function of the program that a thread is in.
type Frame struct {
	File, Function string
	// Line is 0 if not known.
	Line int32
}

// what is read at most; a process says how long its own lists are.
const (
	maxInterpreters = 64
	maxThreads      = 4096
	maxFrames       = 256
	maxText         = 4096
	maxTable        = 1 << 20
)

// ownedByInterpreter is the first owner of frames that are of no function
// (enum _frameowner, 3.13: Include/internal/pycore_frame.h, 3.14: pycore_interpframe_structs.h).
const ownedByInterpreter = 3

var errUnknown = errors.New("not known")

// Threads finds the frames of the program, the innermost first, of each thread
// by its native id. A thread whose frames could not all be read has those up to
// there; of a process that is no CPython that tells its offsets there is none.
func Threads(r *inferior.Reader) (map[int][]Frame, error) {
	symbol, err := r.Symbol("_PyRuntime")
	if err != nil || symbol == nil || r.Info().PointerSize != 8 || r.Info().BigEndian {
		return nil, err
	}

	start, err := r.Bytes(symbol.Addr, debugOffsetsSize)
	if err != nil {
		return nil, r.Err()
	}

	o, ok := parse(start, binary.LittleEndian)
	if !ok {
		return nil, nil
	}

	w := walk{r, o}
	found := map[int][]Frame{}
	interpreter := w.pointer(symbol.Addr, o.interpreters)

	for n := 0; interpreter != 0 && n < maxInterpreters; n++ {
		thread := w.pointer(interpreter, o.threads)
		for n := 0; thread != 0 && n < maxThreads; n++ {
			if id := w.pointer(thread, o.nativeID); id > 0 && id < 1<<31 {
				if _, again := found[int(id)]; again {
					// a thread in two interpreters: which is the inner one is not known.
					found[int(id)] = nil
				} else {
					found[int(id)] = w.frames(w.pointer(thread, o.currentFrame))
				}
			}

			thread = w.pointer(thread, o.nextThread)
		}

		interpreter = w.pointer(interpreter, o.nextInterpreter)
	}

	return found, r.Err()
}

// walk reads by offsets that have proved themselves.
type walk struct {
	r *inferior.Reader
	offsets
}

// pointer is 0 where there is none to be read.
func (w walk) pointer(of inferior.Addr, offset uint64) inferior.Addr {
	v, err := w.r.Uint(of+inferior.Addr(offset), 8)
	if err != nil {
		return 0
	}

	return inferior.Addr(v)
}

func (w walk) frames(at inferior.Addr) []Frame {
	var found []Frame

	for n := 0; at != 0 && n < maxFrames; n++ {
		owner, err := w.r.Uint(at+inferior.Addr(w.owner), 1)
		if err != nil {
			break
		}

		if owner < ownedByInterpreter {
			f, err := w.frame(at)
			if err != nil {
				break
			}

			found = append(found, f)
		}

		at = w.pointer(at, w.previous)
	}

	return found
}

func (w walk) frame(at inferior.Addr) (Frame, error) {
	// the lowest bits of a reference on the stack are its tag.
	code := w.pointer(at, w.executable) &^ 3
	if code == 0 {
		return Frame{}, errUnknown
	}

	file, err := w.text(w.pointer(code, w.filename))
	if err != nil {
		return Frame{}, err
	}

	function, err := w.text(w.pointer(code, w.qualname))
	if err != nil {
		return Frame{}, err
	}

	return Frame{File: file, Function: function, Line: w.line(code, w.pointer(at, w.instruction))}, nil
}

func (w walk) line(code, instruction inferior.Addr) int32 {
	table := w.pointer(code, w.lineTable)
	begin := code + inferior.Addr(w.code)

	size, err := w.r.Uint(table+inferior.Addr(w.bytesSize), 8)
	if err != nil || size > maxTable || instruction < begin {
		return 0
	}

	first, err := w.r.Int(code+inferior.Addr(w.firstLine), 4)
	if err != nil {
		return 0
	}

	b, err := w.r.Bytes(table+inferior.Addr(w.bytesValue), int(size))
	if err != nil {
		return 0
	}

	line, _ := Line(b, int32(first), uint64(instruction-begin))

	return line
}

// text reads a compact ASCII str; another is not known. The bits of kind,
// compact and ascii follow those of interned, which are two or sixteen
// (Include/cpython/unicodeobject.h).
func (w walk) text(at inferior.Addr) (string, error) {
	const asciiText = 1 | 1<<3 | 1<<4

	state, err := w.r.Uint(at+inferior.Addr(w.textState), 4)
	if err != nil {
		return "", err
	}

	length, err := w.r.Uint(at+inferior.Addr(w.textLength), 8)
	if err != nil {
		return "", err
	}

	if state>>2&0x1f != asciiText && state>>16&0x1f != asciiText || length > maxText {
		return "", errUnknown
	}

	b, err := w.r.Bytes(at+inferior.Addr(w.asciiSize), int(length))

	return string(b), err
}
