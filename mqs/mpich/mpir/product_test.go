package mpir

import "testing"

func TestProduct(t *testing.T) {
	for _, c := range []struct {
		a, b, want int64
		ok         bool
	}{{3, 4, 12, true}, {1 << 40, 1 << 40, 0, false}, {1 << 62, 2, 0, false}, {-1, 4, 0, false}, {0, 9, 0, true}, {9, 0, 0, true}, {4, -1, 0, false}} {
		if got, ok := product(c.a, c.b); ok != c.ok || ok && got != c.want {
			t.Errorf("%d times %d: %d, %t", c.a, c.b, got, ok)
		}
	}
}
