// Package python holds the extension for gdb, so that the binary can unpack it.
package python

import "embed"

// Files are gdbinit and the package mpi_queues.
//
//go:embed gdbinit mpi_queues/*.py
var Files embed.FS
