package pyframes

import (
	"encoding/binary"
	"testing"
)

// runtimes are the starts of _PyRuntime of Debian's CPythons, x86-64. Those of free-threaded builds (t) were printed by programs with
// the same releases' headers.
var runtimes = map[string][]uint64{
	"3.13": {
		8750607829840520312, 51185136, 0, 283376, 608, 632, 194976, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16, 7752, 0, 7768, 7760, 304, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0, 56, 72, 70, 208, 112, 120, 128, 136, 68, 52, 96, 104, 200, 16, 8, 416, 24, 88, 168, 32, 24, 16, 40, 24, 16, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 240, 200, 1, 4294967297, 1, 0, 0, 0, 10833232, 10833232, 0, 0,
	},
	"3.14": {
		8750607829840520312, 51251440, 0, 316616, 784, 808, 225864, 7280, 7272, 7344, 7360, 7408, 7688, 7672, 7680, 16, 7784, 0, 7800, 7792, 7992, 0, 832, 0, 8, 16, 72, 152, 160, 232, 32, 88, 8, 0, 56, 80, 74, 64, 0, 216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0, 16, 8, 416, 24, 88, 168, 40, 32, 16, 40, 24, 16, 200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 264, 192,
	},
	"3.13t": {
		8750607829840520312, 51185136, 1, 328320, 608, 632, 215616, 7272, 7264, 7344, 7400, 7664, 7648, 7656, 16, 7760, 0, 7784, 7776, 304, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0, 56, 72, 70, 224, 128, 136, 144, 152, 84, 68, 112, 120, 216, 32, 24, 432, 40, 104, 184, 48, 40, 32, 56, 40, 32, 64, 48, 56, 40, 32, 48, 32, 40, 56, 32, 48, 80, 48, 32, 56, 248, 200, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	},
	"3.14t": {
		8750607829840520312, 51251440, 1, 362368, 784, 808, 246720, 7280, 7272, 7344, 7360, 7408, 7712, 7696, 7704, 16, 7808, 0, 7832, 7824, 8024, 17628, 832, 0, 8, 16, 72, 152, 160, 232, 32, 88, 8, 0, 56, 80, 78, 64, 72, 240, 128, 136, 144, 152, 84, 68, 112, 120, 232, 224, 32, 24, 432, 40, 104, 184, 56, 48, 32, 56, 40, 32, 216, 40, 56, 48, 64, 48, 56, 40, 32, 48, 32, 40, 56, 32, 48, 80, 48, 32, 56, 288, 192,
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
		gil: 16, gilPointer: true, gilLocked: 16, gilHolder: 8, told: true, typeName: 24,
	}
	first, second := common, common
	first.interpreters, first.owner, first.code, first.collecting = 632, 70, 200, 7600
	second.interpreters, second.owner, second.code, second.nextInterpreter, second.collecting = 808, 74, 208, 7272, 7600

	for python, want := range map[string]offsets{"3.13": first, "3.14": second} {
		if got, ok := parse(start(runtimes[python]), binary.LittleEndian); !ok || got != want {
			t.Errorf("%s: %+v, %v", python, got, ok)
		}
	}
}

// Cut offsets, those of an unknown kind of build, and ones with a field outside its struct are none.
func TestParseOfOther(t *testing.T) {
	for python, numbers := range runtimes {
		ends := map[string]int{"3.13": 73, "3.13t": 73}[python]
		if ends == 0 {
			ends = len(numbers)
		}
		good := start(numbers)
		if _, ok := parse(good[:len(good)-1], binary.LittleEndian); ok {
			t.Errorf("%s: of a cut one", python)
		}

		for _, i := range []int{0, 2, 5, 9, 15, 18, ends - 1, ends - 2} {
			b := start(numbers)
			binary.LittleEndian.PutUint64(b[8*i:], 1<<40)

			if _, ok := parse(b, binary.LittleEndian); ok {
				t.Errorf("%s: with %d changed", python, i)
			}
		}
	}
}
