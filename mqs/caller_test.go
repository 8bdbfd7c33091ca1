package mqs

import "testing"

func TestCallersText(t *testing.T) {
	const want = "H5Fclose (libhdf5_openmpi) from write at io.c:7 from main (a.out) at main.c"
	got := CallersText([]Caller{{Function: "H5Fclose", Object: "/usr/lib/libhdf5_openmpi.so.103.2.0"}, {Function: "write", File: "/src/io.c", Line: 7}, {Function: "main", File: "main.c", Object: "a.out"}})
	if got := (Caller{Function: "f", Object: "/opt/.so.1"}).String(); got != "f (.so.1)" {
		t.Errorf("a library without a name of its own: %s", got)
	}
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
