//go:build !amd64

package host

import "github.com/mpi-queues/mpi-queues/mqs/inferior"

// leaf is nothing here: all call-backs are the general ones.
type leaf struct{}

func (*host) newLeaf() {}

func (*leaf) follow(*process) {}

func (*leaf) remember(*process) {}

func (*leaf) keep(*process, inferior.Addr) {}
