package pyframes

import (
	"encoding/hex"
	"testing"
)

// span is a row of a code object's co_lines(): bytes from, to, and the line, 0 for none.
type span struct {
	from, to uint64
	line     int32
}

// functions are location tables, each with what the CPython that made it says of it
// by co_lines(): a function from line 1 on with a loop, a try, a call over two
// lines, and a line far below.
var functions = []struct {
	python, table string
	spans         []span
}{
	{"3.11", "8000d808098041f00a00090ad80809f0050309068041f008000e0ff000050511f0000505118801f002040911dd0c119021d81213f103010d15f400010d15f000010d15f000010d15f8e50f19f000010911f000010911f000010911d80c108844f003010911f8f8f8f05002000d0ed80c0df103010d0ef00001050f", []span{
		{0, 2, 1}, {2, 4, 2}, {4, 6, 2}, {6, 8, 7}, {8, 10, 8}, {10, 12, 6}, {12, 14, 6}, {14, 16, 10}, {16, 18, 10}, {18, 20, 10}, {20, 22, 10}, {22, 24, 11}, {24, 36, 12}, {36, 38, 12}, {38, 40, 13}, {40, 44, 12}, {44, 54, 12}, {54, 56, 12}, {56, 58, 12}, {58, 60, 0}, {60, 72, 14}, {72, 74, 14}, {74, 76, 14}, {76, 78, 14}, {78, 80, 15}, {80, 82, 15}, {82, 84, 14}, {84, 86, 0}, {86, 88, 0}, {88, 90, 0}, {90, 92, 86}, {92, 94, 87}, {94, 98, 86}, {98, 100, 86},
	}},
	{"3.13", "8000d808098041f00a00090ad80809f0050309068041f308000e0f8801f002040911dc0c119021d81213f603010d15f105000e0ff05802000d0ed80c0df103010d0ef00001050ff8f4510200101af300010911da0c10f003010911fa", []span{
		{0, 2, 1}, {2, 6, 2}, {6, 8, 7}, {8, 10, 8}, {10, 14, 6}, {14, 24, 10}, {24, 26, 11}, {26, 38, 12}, {38, 40, 13}, {40, 54, 12}, {54, 58, 10}, {58, 60, 86}, {60, 62, 87}, {62, 68, 86}, {68, 70, 0}, {70, 88, 14}, {88, 94, 15}, {94, 96, 14}, {96, 102, 0},
	}},
	{"3.14", "8000d808098041f00a00090ad80809f0050309068041f308000e0f8801f002040911dc0c119021d81213f603010d15f105000e0ff05802000d0ed80c0df503010d0ef00001050ff8f4510200101af400010911da0c10f003010911fa", []span{
		{0, 2, 1}, {2, 6, 2}, {6, 8, 7}, {8, 10, 8}, {10, 14, 6}, {14, 24, 10}, {24, 26, 11}, {26, 38, 12}, {38, 40, 13}, {40, 54, 12}, {54, 58, 10}, {58, 60, 86}, {60, 62, 87}, {62, 76, 86}, {76, 78, 0}, {78, 98, 14}, {98, 104, 15}, {104, 106, 14}, {106, 112, 0},
	}},
}

// Every instruction has the line that the CPython that compiled it gives it.
func TestLine(t *testing.T) {
	for _, f := range functions {
		table, err := hex.DecodeString(f.table)
		if err != nil {
			t.Fatal(err)
		}

		for _, s := range f.spans {
			for at := s.from; at < s.to; at += unitSize {
				line, ok := Line(table, 1, at)
				if line != s.line || ok != (s.line != 0) {
					t.Errorf("%s, at %d: line %d, %v; not %d", f.python, at, line, ok, s.line)
				}
			}
		}

		if line, ok := Line(table, 1, f.spans[len(f.spans)-1].to); ok {
			t.Errorf("%s, past its end: line %d", f.python, line)
		}
	}
}

// A table that is no table gives no line, nor does one that is cut within the entry.
func TestLineOfBroken(t *testing.T) {
	for _, table := range [][]byte{
		nil, {0x00}, {0x80}, {0xd0, 0x00}, {0xe8}, {0xe8, 0x41}, {0xf0, 0x02, 0x01}, {0xf8, 0x00}, {0xe8, 0x05},
		{0xe8, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x01}, {0xe8, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x3f},
	} {
		if line, ok := Line(table, 1, 0); ok {
			t.Errorf("%x: line %d", table, line)
		}
	}
}

// Whatever the bytes are, the search ends, and a line is one of a file.
func FuzzLine(f *testing.F) {
	f.Add([]byte{0xf0, 0x02, 0x00, 0x01, 0x01}, uint64(0))
	f.Fuzz(func(t *testing.T, table []byte, at uint64) {
		if line, ok := Line(table, 1, at); ok && line < 1 {
			t.Errorf("line %d", line)
		}
	})
}
