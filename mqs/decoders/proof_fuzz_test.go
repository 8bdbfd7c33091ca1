package decoders_test

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// relaid is a process whose debug information is of other sources: types have more or fewer bytes before a member.
type relaid struct {
	inferior.Inferior
	inserted map[string]int // bytes, by "type field"
}

func (r *relaid) Held() int64 { return r.Inferior.(interface{ Held() int64 }).Held() }

func (r *relaid) FindTypes(ctx context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	got, err := r.Inferior.FindTypes(ctx, queries)
	for i, l := range got {
		if l == nil {
			continue
		}
		other := *l
		other.Fields = maps.Clone(l.Fields)
		for path, before := range l.Fields {
			by := r.inserted[queries[i].Name+" "+path]
			other.Size += by
			for also, f := range l.Fields {
				if f.Offset >= before.Offset {
					moved := other.Fields[also]
					moved.Offset += by
					other.Fields[also] = moved
				}
			}
		}
		got[i] = &other
	}
	return got, err
}

// members are those of a recording's debug information, as relaid has them.
func members(of *whole) []string {
	var out []string
	for _, name := range slices.Compact(slices.Clone(of.types)) {
		got, err := of.Inferior.FindTypes(context.Background(), []layout.TypeQuery{{Name: name}})
		if err != nil || got[0] == nil {
			continue
		}
		for _, path := range slices.Sorted(maps.Keys(got[0].Fields)) {
			out = append(out, name+" "+path)
		}
	}
	return out
}

// proved are recordings of libraries with debug information.
var proved = []string{"openmpi-4.1.4-i386/queues-rank-0", "mpich-4.0.2-ch4-debug/queues-rank-0", "mpich-4.0.2-ch3-debug/queues-rank-0"}

// unproved are the types of which it is not noticed everywhere if they have members more or fewer: their members can have
// any value that is small, or a null pointer.
var unproved = []string{"MPIDI_VC", "MPIDI_per_vci_t", "MPIR_Comm_list", "MPIR_Process_t", "MPIR_Sendq", "mca_pml_ob1_comm_proc_t"}

// A layout that is not the process's is refused by a proof, or what it leads to is read within bounds. If one type has a
// member more, of which there are proofs, what is then said of the process and its communicators is what the true layout
// says, or has a mark. The input is the recording, and then before which members others are inserted, 2 bytes, and how many
// words, another one.
func FuzzProof(f *testing.F) {
	for i, name := range proved {
		n := len(members(readWhole(f, name)))
		if n == 0 {
			f.Fatalf("%s has no types", name)
		}
		for place := 0; place < n; place += max(1, n/12) {
			for _, by := range []byte{4, 8, 0xf8} {
				f.Add(append(binary.LittleEndian.AppendUint16([]byte{byte(i)}, uint16(place)), by))
			}
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) < 4 || len(input) > 32 {
			t.Skip("none, or too many")
		}
		was := readWhole(t, proved[int(input[0])%len(proved)])
		names := members(was)
		p := &relaid{Inferior: was.Inferior, inserted: map[string]int{}}
		for rest := input[1:]; len(rest) >= 3; rest = rest[3:] {
			p.inserted[names[int(binary.LittleEndian.Uint16(rest))%len(names)]] = 4 * int(int8(rest[2]))
		}
		now := readWithin(t, p)
		c := compareClaims(was.process, now)
		one, _, _ := strings.Cut(slices.Collect(maps.Keys(p.inserted))[0], " ")
		if len(p.inserted) == 1 && !slices.Contains(unproved, one) && len(c.doubtful) > 0 && !isMarked(was.process, now) {
			t.Errorf("inserted: %v, and nothing says why: %.800q", p.inserted, c.doubtful)
		}
	})
}
