package ucx

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Bounds on the tree of objects.
const (
	maxChildren = 1 << 16 // of a node: a worker has its endpoints beneath it
	maxPath     = 256     // bytes that are read of a path
)

// treeNode is a node of the tree.
type treeNode struct {
	at inferior.Ptr[node]
	node
}

// workerPath tells the nodes of workers (ucp/core/ucp_context.c, ucp_worker.c).
const workerPath = "/ucp/context/*/worker/*"

// children returns the children of a node. They lie on a ring that its head, in
// the node itself, is part of.
func (u *UCX) children(n treeNode) ([]treeNode, error) {
	var out []treeNode
	next := func(l inferior.Ptr[link]) (inferior.Ptr[link], error) {
		at := inferior.ContainerOf(&u.Node, l, func(n *node) *inferior.Embedded[link] { return &n.InList })
		c, err := u.Node.Read(u.r, at)
		if err != nil {
			return 0, err
		}
		if c.Parent != n.at {
			return 0, fmt.Errorf("the node at %s is no child of %s", at, n.at)
		}
		out = append(out, treeNode{at, c})
		if c.List.Next == 0 {
			return 0, fmt.Errorf("the children of %s are no ring", n.at)
		}
		return c.List.Next, nil
	}
	for _, err := range inferior.Walk(n.Children.Next, n.Ring.Ptr(), maxChildren, next) {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// path reads the path of a node.
func (u *UCX) path(n treeNode) (string, error) {
	return n.Path.Read(u.r, maxPath)
}

// findWorkers walks the tree down to the workers. A level that no worker can be
// on is not gone into.
func (u *UCX) findWorkers() error {
	// The tree stands behind a lock, which is an int.
	root := inferior.Ptr[node](u.symbols[symTree].Addr) + inferior.Ptr[node](u.r.Info().PointerSize)
	n, err := u.Node.Read(u.r, root)
	if err != nil {
		return err
	}
	level := []treeNode{{root, n}}
	if n.Parent != 0 {
		return fmt.Errorf("the node at %s is no root", root)
	}
	parts := strings.Split(workerPath[1:], "/")
	for depth := range parts {
		pattern := "/" + strings.Join(parts[:depth+1], "/")
		var below []treeNode
		for _, n := range level {
			children, err := u.children(n)
			if err != nil {
				return err
			}
			for _, c := range children {
				name, err := u.path(c)
				if err != nil {
					return err
				}
				if ok, _ := path.Match(pattern, name); ok {
					below = append(below, c)
				}
			}
		}
		level = below
	}
	var others error
	for _, n := range level {
		w, err := u.openWorker(n)
		var foreign *foreignError
		switch {
		case err == nil:
			u.workers = append(u.workers, w)
		case errors.As(err, &foreign):
			others = err
		default:
			return fmt.Errorf("the worker at %s: %w", n.Obj, err)
		}
	}
	if len(u.workers) == 0 {
		return others
	}
	return nil
}
