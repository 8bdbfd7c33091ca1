package ompi_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// addDatatype adds a datatype, and how it was built.
func addDatatype(o *ompitest.Objects, combiner uint64, integers []int32, addresses []uint64, of ...inferior.Addr) inferior.Addr {
	const args = "ompi_datatype_args_t"
	at, a := o.Object("ompi_datatype_t"), o.Memory(128)
	o.Put(at, "ompi_datatype_t", "d_f_to_c_index", ^uint64(0))
	o.Put(at, "ompi_datatype_t", "args", uint64(a))
	o.Put(at, "ompi_datatype_t", "super.size", 48)
	o.Put(at, "ompi_datatype_t", "super.lb", ^uint64(7))
	o.Put(at, "ompi_datatype_t", "super.ub", 100)
	types := make([]uint64, len(of))
	for i, t := range of {
		if types[i] = uint64(t); t == 0 { // itself
			types[i] = uint64(at)
		}
	}
	o.Put(a, args, "create_type", combiner)
	o.Put(a, args, "ci", uint64(len(integers)))
	o.Put(a, args, "i", uint64(o.Integers(integers...)))
	o.Put(a, args, "ca", uint64(len(addresses)))
	o.Put(a, args, "a", uint64(o.Words(addresses...)))
	o.Put(a, args, "cd", uint64(len(of)))
	o.Put(a, args, "d", uint64(o.Words(types...)))
	return at
}

// How datatypes were built, in all releases; one that is built of itself comes to an end.
func TestConstruction(t *testing.T) {
	for _, release := range []string{"4.1.4", "5.0.7", "6.0.0rc2"} {
		o := ompitest.MakeObjects(t, "openmpi-"+release+"/queues-rank-0", ob1.Component)
		integer := o.Process().Symbols["ompi_mpi_int"].Addr
		row := addDatatype(o, 2, []int32{5}, nil, integer)
		column := addDatatype(o, 3, []int32{3, 2, 100}, nil, row)
		scattered := addDatatype(o, 11, []int32{2, 1, 3}, []uint64{0, 8}, integer, column)
		none := addDatatype(o, 77, nil, nil)
		broken := addDatatype(o, 2, []int32{5}, nil, 0x10)
		loop := addDatatype(o, 1, nil, nil, 0)
		// The recording has nothing of its class and of its place.
		o.IsA(integer, "opal_datatype_t")
		places := make([]inferior.Addr, 100)
		d, err := o.Process().Datatype.Read(o.Process().R, inferior.Ptr[ompi.Datatype](integer))
		if err != nil {
			t.Fatal(err)
		}
		places[d.FortranIndex] = integer
		o.Array("ompi_datatype_f_to_c_table", places...)
		p, q := o.Open(ob1.Component)
		for at, want := range map[inferior.Addr]string{
			row: "contiguous 5 MPI_INT", column: "vector 3 of 2 (contiguous 5 MPI_INT) stride 100", integer: "", none: "", 0x10: "",
			scattered: "struct of 1 MPI_INT at 0, 3 (vector 3 of 2 (contiguous 5 MPI_INT) stride 100) at 8 bytes",
			broken:    "contiguous 5 (…)", loop: "dup of (dup of (dup of (dup of (…))))",
		} {
			if got := p.Construction(inferior.Ptr[ompi.Datatype](at)); got != want {
				t.Errorf("%s: %q, want %q", release, got, want)
			}
		}
		h := p.Resolve(q, mqs.HandleValue{Kind: mqs.DatatypeHandle, Value: uint64(row)})
		want := mqs.Datatype{Name: mqs.Known(""), Size: mqs.Known[int64](48), LowerBound: mqs.Known[int64](-8), Extent: mqs.Known[int64](108),
			Committed: mqs.Known(false), Construction: "contiguous 5 MPI_INT"}
		if h.State != mqs.LiveHandle || h.Datatype == nil || *h.Datatype != want {
			t.Errorf("%s: %+v, want %+v", release, h, want)
		}
		if h := p.Resolve(q, mqs.HandleValue{Kind: mqs.DatatypeHandle, Value: uint64(integer)}); h.State != mqs.PredefinedHandle || h.Name.Value != "MPI_INT" || h.Datatype.Size.Value != 4 {
			t.Errorf("%s: %+v", release, h)
		}
		// The library's own have been built by no call.
		o.Put(row, "ompi_datatype_t", "args", 0)
		p, q = o.Open(ob1.Component)
		if h := p.Resolve(q, mqs.HandleValue{Kind: mqs.DatatypeHandle, Value: uint64(row)}); h.State != mqs.FreedHandle || h.Datatype != nil {
			t.Errorf("%s: %+v", release, h)
		}
	}
}
