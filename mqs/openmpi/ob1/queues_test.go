package ob1

import "testing"

func TestSendSequencesWrapAround(t *testing.T) {
	const last = 40_000
	age := ageBefore(1<<16 + last)
	for posted := range 1 << 16 {
		sequence := uint64(int64(int16(last + 1 + posted))) // sign-extended, as ob1 stores it
		if got := 1<<16 - 1 - age(sequence); got != posted {
			t.Fatalf("the message posted as number %d counts as %d", posted, got)
		}
	}
}
