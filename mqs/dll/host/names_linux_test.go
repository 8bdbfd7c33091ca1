package host

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
)

func TestFunctionNames(t *testing.T) {
	for _, c := range []struct {
		name string
		lang abi.LangCode
		want []string
	}{
		{"Find", abi.LangC, []string{"Find"}},
		{"ns::f(int)", abi.LangCplus, []string{"ns::f(int)"}},
		{"MPI_SEND", abi.LangF77, []string{"MPI_SEND", "mpi_send_"}},
		{"Halo::Swap", abi.LangF90, []string{"__halo_MOD_swap", "halo_mp_swap_", "halo_swap_"}},
	} {
		if got := functionNames(c.name, c.lang); !slices.Equal(got, c.want) {
			t.Errorf("%s in %c: %q, want %q", c.name, c.lang, got, c.want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	for _, c := range []struct {
		name string
		lang abi.LangCode
		want string
	}{
		{"struct toy_comm", abi.LangC, "toy_comm"},
		{"class ns::T", abi.LangCplus, "ns::T"},
		{"ns::V<int, 3>", abi.LangCplus, "ns::V<int, 3>"},
		{"INTEGER", abi.LangF77, "integer(kind=4)"},
		{"integer*8", abi.LangF90, "integer(kind=8)"},
		{"Integer(kind=2)", abi.LangF90, "integer(kind=2)"},
		{"REAL ( 8 )", abi.LangF90, "real(kind=8)"},
		{"DOUBLE  PRECISION", abi.LangF77, "real(kind=8)"},
		{"complex*16", abi.LangF77, "complex(kind=8)"},
		{"character*20", abi.LangF77, "character(kind=1)"},
		{"LOGICAL", abi.LangF77, "logical(kind=4)"},
		{"TYPE(Point)", abi.LangF90, "point"},
		{"Point", abi.LangF90, "point"},
		{"Integer", abi.LangC, "Integer"},
	} {
		if got := typeNames(c.name, c.lang); got[0] != c.want {
			t.Errorf("%s in %c: %q, want %q", c.name, c.lang, got, c.want)
		}
	}
}
