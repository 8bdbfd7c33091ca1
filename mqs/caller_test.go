package mqs

import "testing"

func TestCallersText(t *testing.T) {
	const want = "H5Fclose (libhdf5_openmpi) from write at io.c:7 from main (a.out) at main.c"
	got := CallersText([]Caller{{Function: "H5Fclose", Object: "/usr/lib/libhdf5_openmpi.so.103.2.0"}, {Function: "write", File: "/src/io.c", Line: 7}, {Function: "main", File: "main.c", Object: "a.out"}})
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
