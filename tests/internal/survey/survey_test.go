package survey

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/oracle"
)

// What random jobs and hangs have shown is added up, kept, and shown by shares.
func TestRecord(t *testing.T) {
	results := []oracle.Result{
		{Reader: "native", Way: "live", Layout: "Open MPI 5.0.7", Seeds: 20, Score: oracle.Score{oracle.Right: 900, oracle.Unknown: 5}},
		{Reader: "native", Way: "core", Layout: "Open MPI 5.0.7", Seeds: 20, Score: oracle.Score{oracle.Right: 90, oracle.Unknown: 5}},
		{Reader: "native", Way: "verdict", Seeds: 20, Score: oracle.Score{oracle.Right: 19, oracle.Unknown: 1}},
		{Reader: "native", Way: "hangs", Seeds: 21, Score: oracle.Score{oracle.Right: 20, oracle.Unknown: 1}},
		{Reader: "dll", Way: "live", Seeds: 20, Score: oracle.Score{oracle.Wrong: 7}},
	}
	m, err := Record(results, "2026-11-29", "abc")
	if err != nil {
		t.Fatal(err)
	}
	all := []Install{{Name: "b", MPI: "Open MPI 5.0.8", Over: "ob1", Build: "stripped", For: []string{"pip"}, Measured: m}, {Name: "a", MPI: "MPICH 3.3"}}
	file := filepath.Join(t.TempDir(), "installs.json")
	if err := Save(file, all); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(file); err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("%+v, %v", got, err)
	}
	const want = "| Open MPI 5.0.8 | ob1 | stripped | pip | Open MPI 5.0.7 | 20 | 990 | 0 | 1.0 % | 0 | 20 | 5.0 % | 20 of 21 | 2026-11-29 |"
	if got := Table(all); !strings.Contains(got, want) || strings.Contains(got, "MPICH") {
		t.Errorf("%s\nwithout\n%s", got, want)
	}
	for name, some := range map[string][]oracle.Result{"no hangs": results[:3], "hangs alone": results[3:4], "nothing": nil} {
		if m, err := Record(some, "", ""); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if got, err := Load(filepath.Join(t.TempDir(), "none")); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
