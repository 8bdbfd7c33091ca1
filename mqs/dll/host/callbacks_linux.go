package host

import (
	"fmt"
	"os"
	"strings"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
)

// tables are the call-back tables as C reads them. They have the entries of
// compatibility 3, which do no harm to others.
type tables struct {
	basic   abi.BasicCallbacks
	image   abi.ImageCallbacks
	process abi.ProcessCallbacks
	job     abi.JobCallbacks
}

// intFailure is a C int of -1, the result of call-backs that have no other for a failure.
const intFailure = ^uintptr(0)

// fillTables makes C functions of the call-backs. They live as long as the process.
func (h *host) fillTables() {
	one := func(name string, failed uintptr, f func(a uintptr) uintptr) uintptr {
		return purego.NewCallback(func(a uintptr) uintptr {
			return h.guarded(name, failed, func() uintptr { return f(a) })
		})
	}
	two := func(name string, failed uintptr, f func(a, b uintptr) uintptr) uintptr {
		return purego.NewCallback(func(a, b uintptr) uintptr {
			return h.guarded(name, failed, func() uintptr { return f(a, b) })
		})
	}
	three := func(name string, failed uintptr, f func(a, b, c uintptr) uintptr) uintptr {
		return purego.NewCallback(func(a, b, c uintptr) uintptr {
			return h.guarded(name, failed, func() uintptr { return f(a, b, c) })
		})
	}
	four := func(name string, failed uintptr, f func(a, b, c, d uintptr) uintptr) uintptr {
		return purego.NewCallback(func(a, b, c, d uintptr) uintptr {
			return h.guarded(name, failed, func() uintptr { return f(a, b, c, d) })
		})
	}
	h.tables.basic = abi.BasicCallbacks{
		Malloc:         one("mqs_malloc", 0, h.malloc),
		Free:           one("mqs_free", 0, h.free),
		Dprints:        one("mqs_dprints", 0, h.dprints),
		Errorstring:    one("mqs_errorstring", 0, h.errorString),
		PutImageInfo:   two("mqs_put_image_info", 0, h.putImageInfo),
		GetImageInfo:   one("mqs_get_image_info", 0, h.getImageInfo),
		PutProcessInfo: two("mqs_put_process_info", 0, h.putProcessInfo),
		GetProcessInfo: one("mqs_get_process_info", 0, h.getProcessInfo),
		PutJobInfo:     two("mqs_put_job_info", 0, h.putJobInfo),
		GetJobInfo:     one("mqs_get_job_info", 0, h.getJobInfo),
	}
	h.tables.image = abi.ImageCallbacks{
		GetTypeSizes: two("mqs_get_type_sizes", 0, h.getTypeSizes),
		FindFunction: four("mqs_find_function", abi.NoInformation, h.findFunction),
		FindSymbol:   three("mqs_find_symbol", abi.NoInformation, h.findSymbol),
		FindType:     three("mqs_find_type", 0, h.findType),
		FieldOffset:  two("mqs_field_offset", intFailure, h.fieldOffset),
		Sizeof:       one("mqs_sizeof", intFailure, h.sizeof),
	}
	h.tables.process = abi.ProcessCallbacks{
		GetGlobalRank:      one("mqs_get_global_rank", intFailure, h.getGlobalRank),
		GetImage:           one("mqs_get_image", 0, h.getImage),
		FetchData:          four("mqs_fetch_data", abi.NoInformation, h.fetchData),
		TargetToHost:       four("mqs_target_to_host", 0, h.targetToHost),
		GetProcessJob:      one("mqs_get_process_job", 0, h.getProcessJob),
		GetProcessIdentity: one("mqs_get_process_identity", intFailure, h.getProcessIdentity),
	}
	h.tables.job = abi.JobCallbacks{GetProcess: two("mqs_get_process", 0, h.getProcess)}
}

// guarded runs a call-back: only on the thread that the DLL was called on, and
// never into a panic, which would have to unwind C.
func (h *host) guarded(name string, failed uintptr, f func() uintptr) (result uintptr) {
	if unix.Gettid() != h.thread {
		h.faultFromThread(name)
		return failed
	}
	defer func() {
		if p := recover(); p != nil {
			h.fault("made %s fail (%v)", name, p)
			result = failed
		}
	}()
	return f()
}

// imageOf is the image with a handle, or nil.
func (h *host) imageOf(callback string, handle uintptr) *image {
	i := h.images[abi.Image(handle)]
	if i == nil {
		h.wrongHandle(callback, "image", handle)
	}
	return i
}

// processOf is the process with a handle, or nil.
func (h *host) processOf(callback string, handle uintptr) *process {
	p := h.processes[abi.Process(handle)]
	if p == nil {
		h.wrongHandle(callback, "process", handle)
	}
	return p
}

// typeOf is the type with a handle, or nil.
func (h *host) typeOf(callback string, handle uintptr) *ctype {
	t := h.types[abi.Type(handle)]
	if t == nil {
		h.wrongHandle(callback, "type", handle)
	}
	return t
}

// isJob says whether a handle is the job's.
func (h *host) isJob(callback string, handle uintptr) bool {
	is := handle != 0 && abi.Job(handle) == h.job.handle
	if !is {
		h.wrongHandle(callback, "job", handle)
	}
	return is
}

func (h *host) wrongHandle(callback, kind string, handle uintptr) {
	if handle == 0 {
		h.fault("called %s with NULL for the %s", callback, kind)
		return
	}
	h.fault("called %s with a handle that is none of the %s", callback, map[string]string{
		"image": "images'", "process": "processes'", "type": "types'", "job": "job's"}[kind])
}

// text reads a string that a call-back was given, or reports that it is none.
func (h *host) text(callback string, addr uintptr) (string, bool) {
	s, ok := cString(addr, maxText)
	if !ok {
		h.fault("called %s with a string that can't be read", callback)
	}
	return s, ok
}

// badPointer reports a result pointer that can't be written to.
func (h *host) badPointer(callback string, addr uintptr) {
	h.fault("called %s with a pointer to nowhere for its result%s", callback, map[bool]string{true: " (NULL)"}[addr == 0])
}

func (h *host) putImageInfo(handle, info uintptr) uintptr {
	if i := h.imageOf("mqs_put_image_info", handle); i != nil {
		i.info = abi.ImageInfo(info)
		h.leaf.remember(h.current)
	}
	return 0
}

func (h *host) getImageInfo(handle uintptr) uintptr {
	if i := h.imageOf("mqs_get_image_info", handle); i != nil {
		return uintptr(i.info)
	}
	return 0
}

func (h *host) putProcessInfo(handle, info uintptr) uintptr {
	if p := h.processOf("mqs_put_process_info", handle); p != nil {
		p.info = abi.ProcessInfo(info)
		h.leaf.remember(h.current)
	}
	return 0
}

func (h *host) getProcessInfo(handle uintptr) uintptr {
	if p := h.processOf("mqs_get_process_info", handle); p != nil {
		return uintptr(p.info)
	}
	return 0
}

func (h *host) putJobInfo(handle, info uintptr) uintptr {
	if h.isJob("mqs_put_job_info", handle) {
		h.job.info = abi.JobInfo(info)
	}
	return 0
}

func (h *host) getJobInfo(handle uintptr) uintptr {
	if h.isJob("mqs_get_job_info", handle) {
		return uintptr(h.job.info)
	}
	return 0
}

func (h *host) getProcess(handle, index uintptr) uintptr {
	if !h.isJob("mqs_get_process", handle) {
		return 0
	}
	for _, p := range h.processes {
		if p.identity == int32(index) {
			return uintptr(p.handle)
		}
	}
	return 0
}

func (h *host) getProcessJob(handle uintptr) uintptr {
	if h.processOf("mqs_get_process_job", handle) == nil {
		return 0
	}
	return uintptr(h.job.handle)
}

// getProcessIdentity takes a process, though the header has a job there.
func (h *host) getProcessIdentity(handle uintptr) uintptr {
	if p := h.processOf("mqs_get_process_identity", handle); p != nil {
		return uintptr(p.identity)
	}
	return intFailure
}

func (h *host) getGlobalRank(handle uintptr) uintptr {
	if p := h.processOf("mqs_get_global_rank", handle); p != nil {
		return uintptr(p.rank)
	}
	return intFailure
}

func (h *host) getImage(handle uintptr) uintptr {
	if p := h.processOf("mqs_get_image", handle); p != nil {
		return uintptr(p.image.handle)
	}
	return 0
}

// dprints goes where the DLL's own printing goes, marked.
func (h *host) dprints(text uintptr) uintptr {
	if s, ok := h.text("mqs_dprints", text); ok {
		for line := range strings.Lines(s) {
			fmt.Fprintln(os.Stderr, wire.Dprints+strings.TrimSuffix(line, "\n"))
		}
	}
	return 0
}
