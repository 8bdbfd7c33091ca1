package host

import (
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// handles are the debugger's objects as a DLL knows them. A handle is a number
// that looks like no address and is never used again, so that one of another
// kind, a stale one or an invented one finds nothing.
type handles struct {
	last      uintptr
	images    map[abi.Image]*image
	processes map[abi.Process]*process
	types     map[abi.Type]*ctype
	job       job
}

// The kinds of handles, in the highest byte: no user address on any system has
// one of these there.
const (
	imageKind   = 0x1a
	processKind = 0x1b
	typeKind    = 0x1c
	jobKind     = 0x1d
)

func (h *handles) handle(kind uintptr) uintptr {
	h.last++
	return kind<<(8*(unsafe.Sizeof(kind)-1)) | h.last<<4
}

// image is one program with its libraries, at the addresses of one process.
type image struct {
	handle  abi.Image
	key     string // wire.Open.Image
	info    abi.ImageInfo
	symbols map[string]*inferior.Symbol // nil for one that there is not
	types   map[string]*ctype           // nil for one that there is not
	outcome
}

// process is one process of an image.
type process struct {
	handle   abi.Process
	inferior int
	pid      int
	image    *image
	info     abi.ProcessInfo
	rank     int32
	identity int32
	target   inferior.Info
	reader   *inferior.Reader // of this stop
	isSetUp  bool             // mqs_setup_process has succeeded
	outcome
}

// ctype is a type of an image.
type ctype struct {
	handle abi.Type
	name   string
	image  *image
	layout.Layout
	queried map[string]bool // members that were asked for, those that there are not too
}

// job is what all processes belong to.
type job struct {
	handle abi.Job
	info   abi.JobInfo
	last   int32 // identity given
}

// outcome is what the set-up of an image or a process has come to. An image is set up once, and
// an error of mqs_setup_image or mqs_setup_process stays.
type outcome struct {
	done bool
	err  error
	said []string
}

// newImage makes an image. The DLL does not know it yet.
func (h *handles) newImage(key string) *image {
	i := &image{handle: abi.Image(h.handle(imageKind)), key: key, symbols: map[string]*inferior.Symbol{}, types: map[string]*ctype{}}
	if h.images == nil {
		h.images = map[abi.Image]*image{}
	}
	h.images[i.handle] = i
	return i
}

// newProcess makes a process of an image. The DLL does not know it yet.
func (h *handles) newProcess(i *image, info inferior.Info) *process {
	p := &process{handle: abi.Process(h.handle(processKind)), inferior: info.Inferior, pid: info.PID, image: i, identity: h.job.last}
	h.job.last++
	if h.processes == nil {
		h.processes = map[abi.Process]*process{}
	}
	h.processes[p.handle] = p
	return p
}

// newType adds a type to its image.
func (h *handles) newType(i *image, name string, l layout.Layout) *ctype {
	t := &ctype{abi.Type(h.handle(typeKind)), name, i, l, map[string]bool{}}
	if h.types == nil {
		h.types = map[abi.Type]*ctype{}
	}
	h.types[t.handle] = t
	i.types[name] = t
	return t
}

// drop forgets an image and its types.
func (h *handles) drop(i *image) {
	delete(h.images, i.handle)
	for _, t := range i.types {
		if t != nil {
			delete(h.types, t.handle)
		}
	}
}
