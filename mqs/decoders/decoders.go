// Package decoders lists the MPI implementations that are decoded natively.
package decoders

import (
	"github.com/mpi-queues/mpi-queues/mqs/mpich"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// All are the decoders in the order in which they are tried.
var All = []read.Decoder{openmpi.Decoder{}, mpich.Decoder{}}
