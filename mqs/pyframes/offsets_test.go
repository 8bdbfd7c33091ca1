package pyframes

import (
	"encoding/binary"
	"testing"
)

// runtimes are the starts of _PyRuntime of Debian's CPythons, x86-64.
var runtimes = map[string][]uint64{
	"3.13": {
		8750607829840520312, 51185136, 0, 283376, 608, 632, 194976, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16, 7752, 0, 7768, 7760, 304, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0, 56, 72, 70, 208, 112, 120, 128, 136, 68, 52, 96, 104, 200, 16, 8, 416, 24, 88, 168, 32, 24, 16, 40, 24, 16, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 240, 200, 1, 4294967297, 1, 0, 0, 0, 10833232, 10833232,
	},
	"3.14": {
		8750607829840520312, 51251440, 0, 316616, 784, 808, 225864, 7280, 7272, 7344, 7360, 7408, 7688, 7672, 7680, 16, 7784, 0, 7800, 7792, 7992, 0, 832, 0, 8, 16, 72, 152, 160, 232, 32, 88, 8, 0, 56, 80, 74, 64, 0, 216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0, 16, 8, 416, 24, 88, 168, 40, 32, 16, 40, 24, 16, 200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40,
	},
}

// start is the first bytes of a _PyRuntime.
func start(numbers []uint64) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}

	return b
}

// Each release's offsets are found, in the form that it has.
func TestParse(t *testing.T) {
	common := offsets{
		nextInterpreter: 7264, threadList: 7344,
		nextThread: 8, interpreter: 16, currentFrame: 72, nativeID: 160, previous: 8, instruction: 56,
		filename: 112, qualname: 128, lineTable: 136, firstLine: 68, obType: 8,
		bytesSize: 16, bytesValue: 32, textState: 32, textLength: 16, asciiSize: 40, compactSize: 56,
		gil: 16, gilPointer: true, gilLocked: 16, gilHolder: 8,
	}
	first, second := common, common
	first.interpreters, first.owner, first.code = 632, 70, 200
	second.interpreters, second.owner, second.code, second.nextInterpreter = 808, 74, 208, 7272

	for python, want := range map[string]offsets{"3.13": first, "3.14": second} {
		if got, ok := parse(start(runtimes[python]), binary.LittleEndian); !ok || got != want {
			t.Errorf("%s: %+v, %v", python, got, ok)
		}
	}
}

// Offsets of a free-threaded build, cut ones, and ones with a field outside its struct are none.
func TestParseOfOther(t *testing.T) {
	for python, numbers := range runtimes {
		good := start(numbers)
		if _, ok := parse(good[:len(good)-1], binary.LittleEndian); ok {
			t.Errorf("%s: of a cut one", python)
		}

		for _, i := range []int{0, 2, 5, 9, 15, 18} {
			b := start(numbers)
			binary.LittleEndian.PutUint64(b[8*i:], 1<<40)

			if _, ok := parse(b, binary.LittleEndian); ok {
				t.Errorf("%s: with %d changed", python, i)
			}
		}
	}
}
