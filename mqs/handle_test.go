package mqs

import (
	"reflect"
	"testing"
)

func TestParseHandle(t *testing.T) {
	for text, want := range map[string]HandleValue{
		"0x44000000":         {Value: 0x44000000},
		"0X7f0012345678":     {Value: 0x7f0012345678},
		"3":                  {Fortran: true, Value: 3},
		"-2080374784":        {Fortran: true, Value: 0x84000000},
		"2214592512":         {Value: 0x84000000}, // no INTEGER has it
		"94137219842000":     {Value: 94137219842000},
		"0xffffffffffffffff": {Value: 1<<64 - 1},
	} {
		want.Kind = CommHandle
		if got, err := ParseHandle(CommHandle, text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v (%v), want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0x", "halo", "-4294967296", "0x10000000000000000", "1.5", "0x-1"} {
		if got, err := ParseHandle(CommHandle, text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
