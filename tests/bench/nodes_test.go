//go:build bench

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The targets for a report on a million ranks on ten thousand nodes, as its user waits for it once all collectors have
// sent what they have. It takes two looks.
const (
	nodesTarget       = 30.0    // s
	nodesMemoryTarget = 4 << 10 // MiB
	nodesBytesTarget  = 200.0   // MB, at a look
)

// TestNodes measures reports on simulated jobs on many nodes, from what collectors send, and how their cost grows with
// the ranks. What is beyond ten thousand takes minutes, and is done where MPI_QUEUES_TEST_WHOLE is set.
func TestNodes(t *testing.T) {
	folder := t.TempDir()
	binary, simulator := os.Getenv("MPI_QUEUES_HELPER"), filepath.Join(folder, "simulator")
	if binary == "" {
		binary = filepath.Join(folder, "mpi-queues")
		build(t, "../..", "go", "build", "-o", binary, "./cmd/mpi-queues")
	}
	build(t, "../..", "go", "test", "-c", "-vet=off", "-o", simulator, "./cmd/mpi-queues/internal/cluster")
	version, err := exec.Command(binary, "--version").Output()
	must(t, err)
	most := 10_000
	if os.Getenv("MPI_QUEUES_TEST_WHOLE") != "" {
		most = 1_000_000
	}
	var curve strings.Builder
	for _, name := range []string{"halo", "irregular"} {
		for ranks := 1000; ranks <= most; ranks *= 10 {
			look := filepath.Join(folder, "look")
			write := exec.Command(simulator, "-test.run", "TestWriteSimulation")
			write.Env = append(os.Environ(), fmt.Sprintf("MPI_QUEUES_TEST_SIMULATION=%s %d %s %s", name, ranks, look, strings.TrimPrefix(string(version), "mpi-queues ")))
			out, err := write.CombinedOutput()
			if err != nil {
				t.Fatal(err, string(out))
			}
			sent, err := os.Stat(look + "0")
			must(t, err)
			report := filepath.Join(folder, "report")
			// What is sent at the first look, and then at the second one.
			engine := fmt.Sprintf(`if [ -e %[1]s0 ]; then cat %[1]s0; rm %[1]s0; else cat %[1]s1; fi; : {command}`, look)
			wall, cpu, peak := measured(t, exec.Command(binary, "report", "-o", report, "--slurm", "1", "--node-limit", "1h", "--via", engine))
			text, err := os.ReadFile(report)
			must(t, err)
			if !strings.HasPrefix(string(text), "Deadlock. ") || !strings.Contains(string(text), "tag 32767") {
				t.Errorf("%s, %d ranks: %.300s", name, ranks, text)
			}
			seconds, memory, bytes := wall.Seconds(), float64(peak>>10), float64(sent.Size())/1e6
			fmt.Fprintf(&curve, "| %s | %d | %.2f s (%.2f s) | %.0f MiB | %.1f MB |\n", name, ranks, seconds, cpu.Seconds(), memory, bytes)
			if ranks == most {
				what := fmt.Sprintf("report on %d ranks of nodes, %s", ranks, name)
				part := float64(ranks) / 1e6
				target("s, "+what, []float64{seconds}, atMost(nodesTarget*part, " s"), "what the analysis looks up of each message, which uses one core")
				target("MiB, "+what, []float64{memory}, atMost(nodesMemoryTarget*part, " MiB"), "of each rank all that was read is in memory, as if no other were like it")
				target("MB, "+what, []float64{bytes}, atMost(nodesBytesTarget*part, " MB"), "of each rank its numbers are sent, addresses among them")
			}
		}
	}
	fmt.Println("jobs on nodes of a hundred ranks: what a report takes (and of the processors together), its memory, and what is sent at a look:")
	fmt.Printf("| exchange | ranks | time | memory | sent |\n|---|---|---|---|---|\n%s", &curve)
}
