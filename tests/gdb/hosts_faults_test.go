//go:build live

package gdb

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A host whose collector hangs, one that is cut off, and one of another version: the report comes, and names each with
// its reason. Nothing is left anywhere, and the ranks run on.
func TestReportOfFaultyHosts(t *testing.T) {
	t.Parallel()
	const first, hangs, isCut, other = "nodea", "nodeb", "nodec", "noded"
	s := work.Spread(t, live.OverAgent, "deadlock", "recv-ring", 3, first, hangs, isCut)
	hello := fmt.Sprintf("%s token hello 0 %s", other, base64.RawStdEncoding.EncodeToString([]byte("v0\nits machine")))
	s.Engine(t, fmt.Sprintf(`[ "$1" != %s ] || { echo "@mpi-queues/1 %08x %s"; exit; }`, other, crc32.Checksum([]byte(hello), crc32.MakeTable(crc32.Castagnoli)), hello))
	s.Cut(isCut)
	live.Until(t, "for an answer of the host that has no fault", func() bool {
		tool := s.Tool(fmt.Sprintf("report %d --node-limit 10s --hosts %s", s.Launcher, strings.Join([]string{first, hangs, isCut, other}, ",")))
		var said bytes.Buffer
		tool.Stdout, tool.Stderr = &said, &said
		if err := tool.Start(); err != nil {
			t.Fatal(err)
		}
		live.Until(t, "for a collector", func() bool { return s.Reads(t, hangs) })
		s.SignalCollectors(t, hangs, "STOP")
		err := tool.Wait()
		got := said.String()
		for _, want := range []string{
			hangs + ": no answer came within 10s; it began and sent no document", isCut + ": no answer came within 10s.",
			other + ": it has version v0 of mpi-queues, but this machine has version ",
		} {
			if !strings.Contains(got, "Not read: "+want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
		s.NothingIsLeft(t)
		return err == nil && strings.Contains(got, "Note: Answers came from 1 of 4 nodes.")
	})
}
