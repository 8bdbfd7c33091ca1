package ompi_test

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// A file's ranks are those of the program's communicator; io/ompio's own one is named after the file.
func TestFiles(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	of, own := ompitest.Comm(t, o.Process(), "MPI_COMM_WORLD"), dup(t, o.Process())
	data := o.Memory(1 << 10)
	f := o.Object("ompi_file_t")
	o.Put(f, "ompi_file_t", "f_comm", uint64(of.At))
	o.Put(f, "ompi_file_t", "f_filename", uint64(o.Text("/scratch/restart.dat")))
	o.Put(f, "ompi_file_t", "f_amode", 0x1|0x8)
	o.Put(f, "ompi_file_t", "f_f_to_c_index", 1)
	o.Put(f, "ompi_file_t", "f_io_selected_data", uint64(data))
	o.Put(data, "mca_common_ompio_data_t", "ompio_fh.f_fh", uint64(f))
	o.Put(data, "mca_common_ompio_data_t", "ompio_fh.f_comm", uint64(own.At))
	o.Array("ompi_file_f_to_c_table", o.Object("ompi_file_t"), f)
	want := mqs.File{Handle: f, FortranHandle: mqs.Known[int32](1), Name: mqs.Known("/scratch/restart.dat"), Comm: mqs.Known(own.Model.UniqueID),
		LocalRank: of.Model.LocalRank, Size: of.Model.Size, AccessMode: []string{"MPI_MODE_CREATE", "MPI_MODE_RDWR"}}
	p, q := o.Open(ob1.Component)
	if got := p.Files(); !reflect.DeepEqual(got, []mqs.File{want}) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if label := p.CommAt(own.At).Model.Label(); label != `file "/scratch/restart.dat"` {
		t.Errorf("its communicator is shown as %s", label)
	}
	h := p.Resolve(q, mqs.HandleValue{Kind: mqs.FileHandle, Value: uint64(f)})
	if h.State != mqs.LiveHandle || h.File == nil || !reflect.DeepEqual(*h.File, want) || h.Communicator == nil || h.Communicator.Label() != "MPI_COMM_WORLD" {
		t.Errorf("%+v", h)
	}

	// Another component keeps something else there, and a mode that MPI does not have is none.
	o.Put(data, "mca_common_ompio_data_t", "ompio_fh.f_fh", 0)
	o.Put(f, "ompi_file_t", "f_amode", 0x1000)
	want.Comm, want.AccessMode = p.Files()[0].Comm, nil
	want.Comm.Known, want.Comm.Value = false, 0
	p, _ = o.Open(ob1.Component)
	if got := p.Files(); !reflect.DeepEqual(got, []mqs.File{want}) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A process of which the array is not known has no files that are known; others have those, or none.
func TestFilesThatAreNone(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	if got := o.Process().Files(); got != nil {
		t.Errorf("without an array: %+v", got)
	}
	o.Array("ompi_file_f_to_c_table", o.Object("ompi_file_t"), o.Object("ompi_win_t"))
	p, _ := o.Open(ob1.Component)
	if got := p.Files(); got == nil || len(got) != 0 || len(p.Notes()) != 1 {
		t.Errorf("%+v, notes %q", got, p.Notes())
	}
}
