package inferiortest

import "github.com/mpi-queues/mpi-queues/mqs/inferior"

// WithLibrary is a process that has one more library.
type WithLibrary struct {
	inferior.Inferior
	Path string
}

// Info has the library last.
func (p WithLibrary) Info() inferior.Info {
	info := p.Inferior.Info()
	info.Libraries = append(info.Libraries[:len(info.Libraries):len(info.Libraries)], p.Path)
	return info
}
