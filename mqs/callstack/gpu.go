package callstack

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// gpuLibraries are the beginnings of the names of GPUs' libraries: the drivers and run times of CUDA, ROCm and
// oneAPI, and what passes messages between GPUs.
var gpuLibraries = []string{"libcuda.", "libcudart", "libcublas", "libcufft", "libcusparse", "libcusolver", "libcudnn", "libnvidia-", "libnccl", "libnvshmem",
	"libamdhip64", "libhsa-runtime64", "librccl", "librocblas", "librocfft", "libze_", "libsycl", "libccl.", "libOpenCL", "libgomp-plugin-"}

// isGPU says whether a file is a library of a GPU.
func isGPU(object string) bool { return hasPrefix(object, gpuLibraries...) }

// gpuCall returns the function of a GPU's library that the program, or MPI, has called; empty if it has no name.
// It is false if a thread is in no such library.
func gpuCall(t *inferior.Thread) (name string, is bool) {
	at := slices.IndexFunc(t.Frames, func(f inferior.Frame) bool { return !isSystemFrame(f) })
	if at < 0 || !isGPU(t.Frames[at].Object) {
		return "", false
	}
	for _, f := range t.Frames[at:] {
		if !isGPU(f.Object) {
			break
		}
		if f.Function != "" && !strings.HasPrefix(f.Function, "_") {
			name = f.Function
		}
	}
	return name, true
}
