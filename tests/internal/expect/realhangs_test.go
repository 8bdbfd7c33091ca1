package expect

import "testing"

// As many of the real hangs are told as have to be.
func TestRealHangs(t *testing.T) {
	for mpi, want := range LeastTold {
		told, all := 0, 0
		for i := range RealHangs {
			switch of := RealHangs[i].Of(mpi); {
			case of.IsAbsent:
			case of.IsTold():
				told++
				fallthrough
			default:
				all++
			}
		}
		t.Logf("%s: %d of %d are told", mpi, told, all)
		if told < want[0] || all != want[1] {
			t.Errorf("%s: %d of %d are told, want %d of %d", mpi, told, all, want[0], want[1])
		}
	}
}
