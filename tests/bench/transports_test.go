//go:build bench

package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// viaUCX are the settings of Open MPI for pml ucx on a machine without a network for it.
var viaUCX = map[string]string{
	"OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "^ucx", "OMPI_MCA_opal_common_ucx_tls": "any", "OMPI_MCA_opal_common_ucx_devices": "any",
}

// TestUCX measures pml ucx beside pml ob1 in one run.
func TestUCX(t *testing.T) {
	k := prepare(t)
	for _, n := range []int{10_000, 100_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ob1 := receives(t, k, n)
			for name, value := range viaUCX {
				t.Setenv(name, value)
			}
			ucx := receives(t, k, n)
			if out, _ := ucx.do(textCommand); strings.Contains(out, " MPI_INT ") {
				t.Fatalf("this is not pml ucx, which keeps no datatype:\n%s", tail([]byte(out)))
			}
			var ratios []float64
			var times, others []time.Duration
			for range rounds {
				var mine, other []time.Duration
				for range repeats {
					mine, other = append(mine, show(ucx, n)), append(other, show(ob1, n))
				}
				ratios = append(ratios, ratio(median(mine), median(other)))
				times, others = append(times, mine...), append(others, other...)
			}
			cost, otherCost := ucx.debugged(textCommand), ob1.debugged(textCommand)
			fmt.Printf("%d pending receives with pml ucx: `%s` takes %.3f s (%.3f at best), %d round trips, %s read; "+
				"with pml ob1 %.3f s (%.3f), %d round trips, %s: %.2f times as long (%.2f to %.2f)\n",
				n, textCommand, median(times).Seconds(), slices.Min(times).Seconds(), cost.roundTrips, megabytes(int(cost.bytes)),
				median(others).Seconds(), slices.Min(others).Seconds(), otherCost.roundTrips, megabytes(int(otherCost.bytes)),
				median(ratios), slices.Min(ratios), slices.Max(ratios))
		})
	}
}

// viaOFI are the settings of Open MPI for pml cm with mtl ofi over what of libfabric needs no network.
var viaOFI = map[string]string{
	"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi", "OMPI_MCA_osc": "^ucx", "OMPI_MCA_mtl_ofi_provider_include": "tcp;ofi_rxm", "FI_PROVIDER": "tcp;ofi_rxm",
	"FI_OFI_RXM_RX_SIZE": "131072", // receives that there may be
}

// TestOFI counts what pml cm costs, whose receives are in libfabric's lists.
func TestOFI(t *testing.T) {
	k := prepare(t)
	for name, value := range viaOFI {
		t.Setenv(name, value)
	}
	for _, n := range []int{10_000, 100_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := receives(t, k, n)
			if out, _ := s.do("info sharedlibrary mca_mtl_ofi"); !strings.Contains(out, "mca_mtl_ofi.so") {
				t.Fatalf("this is not mtl ofi:\n%s", out)
			}
			cost := s.debugged(textCommand)
			fmt.Printf("%d pending receives with pml cm: %d round trips, %s read\n", n, cost.roundTrips, megabytes(int(cost.bytes)))
		})
	}
}

// receives starts a job with n pending receives, and a session that has shown them once.
func receives(t *testing.T, k *tools, n int) *session {
	t.Helper()
	_, pids := job(t, k.many, 2, n)
	s := newSession(t, k.helper)
	s.do(fmt.Sprintf("attach %d", pids[0]))
	s.do("source " + filepath.Join(k.root, "gdbinit"))
	show(s, n)
	return s
}

// show times the command that shows n receives.
func show(s *session, n int) time.Duration {
	s.t.Helper()
	out, took := s.do(textCommand)
	if got := strings.Count(out, " irecv "); got != n {
		s.t.Fatalf("%s shows %d receives of %d:\n%s\n%s", textCommand, got, n, tail([]byte(out)), s.stderr())
	}
	return took
}
