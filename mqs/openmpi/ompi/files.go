package ompi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// accessModes are the bits of a file's access mode (ompi/include/mpi.h.in, 4.0 to 6.0).
var accessModes = []string{"MPI_MODE_CREATE", "MPI_MODE_RDONLY", "MPI_MODE_WRONLY", "MPI_MODE_RDWR", "MPI_MODE_DELETE_ON_CLOSE",
	"MPI_MODE_UNIQUE_OPEN", "MPI_MODE_EXCL", "MPI_MODE_APPEND", "MPI_MODE_SEQUENTIAL"}

const maxFileName = 4 << 10 // bytes

// openFile is a file that has been read.
type openFile struct {
	file
	model mqs.File
	// comm is the communicator that its component has made for it, 0 if not known.
	comm inferior.Ptr[Communicator]
}

// Files are those of the process, in the order of their Fortran handles; nil if they are not known. The
// communicators have been read.
func (p *Process) Files() []mqs.File {
	files, isKnown := p.allFiles()
	if !isKnown {
		return nil
	}
	out := make([]mqs.File, len(files))
	for i, f := range files {
		out[i] = p.fileModel(f)
	}
	return out
}

// fileModel adds to a file what its communicators say.
func (p *Process) fileModel(f *openFile) mqs.File {
	out := f.model
	if c := p.CommAt(f.comm); c != nil {
		out.Comm = mqs.Known(c.Model.UniqueID)
	}
	if c := p.CommAt(f.Comm); c != nil {
		out.LocalRank, out.Size = c.Model.LocalRank, c.Model.Size
	}
	return out
}

// allFiles reads the files, once, and says whether they are known.
func (p *Process) allFiles() ([]*openFile, bool) {
	if !p.filesRead {
		p.files, p.filesKnown = p.readFiles()
		p.filesRead = true
	}
	return p.files, p.filesKnown
}

func (p *Process) readFiles() (out []*openFile, isKnown bool) {
	if !p.File.Bound() {
		return nil, false
	}
	places, err := p.all(symFiles)
	if err != nil {
		return nil, false
	}
	var ranges []inferior.Range
	for _, at := range places {
		if at != 0 {
			ranges = append(ranges, inferior.Range{Addr: at, Len: p.File.Size()})
		}
	}
	if len(ranges) == 0 {
		return nil, true
	}
	_ = p.R.Prefetch(ranges) // what fails here fails again below
	ranges = nil
	for i, at := range places {
		if at == 0 || i == 0 { // MPI_FILE_NULL
			continue
		}
		if err := ProveClass(p, &p.File, inferior.Ptr[file](at)); err != nil {
			p.Notef("file %d is left out: %v", i, err)
			continue
		}
		f, err := p.File.Read(p.R, inferior.Ptr[file](at))
		if err != nil {
			p.Notef("file %d is left out: %v", i, err)
			continue
		}
		out = append(out, &openFile{file: f, model: mqs.File{Handle: at}})
		ranges = append(ranges, inferior.Range{Addr: f.Data, Len: p.OMPIOData.Size()})
	}
	_ = p.R.Prefetch(ranges)
	for _, f := range out {
		p.describeFile(f)
	}
	return out, true
}

func (p *Process) describeFile(f *openFile) {
	if f.FortranIndex >= 0 {
		f.model.FortranHandle = mqs.Known(p.integer(mqs.FileHandle, f.FortranIndex))
	}
	if name, err := f.Name.Read(p.R, maxFileName); err == nil {
		f.model.Name = mqs.Known(name)
	}
	f.model.AccessMode = accessMode(f.AccessMode)
	// io/ompio's is told by what leads back to the file. It takes the program's communicator where it opens
	// the file for a component of its own.
	if !p.OMPIOData.Bound() || f.Data == 0 {
		return
	}
	d, err := p.OMPIOData.Read(p.R, inferior.Ptr[ompioData](f.Data))
	if err == nil && d.File.Addr() == f.model.Handle && d.Comm != f.Comm && p.isComm(d.Comm) {
		f.comm = d.Comm
	}
}

// accessMode names the bits of an access mode, nil if there are others.
func accessMode(bits uint32) []string {
	out := []string{}
	for i, name := range accessModes {
		if bits&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	if bits>>len(accessModes) != 0 {
		return nil
	}
	return out
}
