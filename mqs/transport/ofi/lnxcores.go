package ofi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// maxCores bounds the endpoints beneath one, of which lnx is made for 16 (LNX_MAX_LOCAL_EPS).
const maxCores = 64

// readCores finds the endpoints beneath.
func (x *lnx) readCores() error {
	domain, err := x.Domain.Read(x.r, x.ep.Domain)
	switch {
	case err != nil:
		return err
	case domain.KeepsAt != 0 && !domain.Keeps:
		return errors.New("they have the receives, which are not read there")
	case x.Core.Bound() && inferior.Places(&x.EP, x.at).CoresAt != 0:
		return x.readArray(domain.Cores)
	case inferior.Places(&x.Fabric, domain.Fabric).Providers != 0 && x.Provider.Bound() && x.OldCore.Bound():
		return x.readRings(domain.Fabric)
	}
	return errors.New("no layout of them is known")
}

// readArray reads those from 2.2 on, which the endpoint has in an array.
func (x *lnx) readArray(count int32) error {
	if count < 0 || count > maxCores {
		return fmt.Errorf("there are %d", count)
	}
	for i := range int(count) {
		at := inferior.At(&x.Core, x.ep.Cores, i)
		core, err := x.Core.Read(x.r, at)
		switch {
		case err != nil:
			return err
		case core.Parent != x.at:
			return fmt.Errorf("that at %s is another endpoint's", at)
		}
		x.addCore(at.Addr(), core.EP)
	}
	return nil
}

// readRings reads those up to 2.1, which the fabric has by their providers.
func (x *lnx) readRings(fabric inferior.Ptr[lnxFabric]) error {
	at := inferior.Places(&x.Fabric, fabric).Providers
	head, err := x.Link.Read(x.r, at.Ptr())
	if err != nil {
		return err
	}
	return ring(head, at.Ptr(), func(l inferior.Ptr[link]) (link, error) {
		at := inferior.ContainerOf(&x.Provider, l, func(p *lnxProvider) *inferior.Embedded[link] { return &p.InRing })
		p, err := x.Provider.Read(x.r, at)
		if err != nil {
			return link{}, err
		}
		return p.Links, ring(p.EPs, p.EPsAt.Ptr(), func(l inferior.Ptr[link]) (link, error) {
			at := inferior.ContainerOf(&x.OldCore, l, func(c *lnxOldCore) *inferior.Embedded[link] { return &c.InRing })
			c, err := x.OldCore.Read(x.r, at)
			switch {
			case err != nil:
				return link{}, err
			case len(x.cores) == maxCores:
				return link{}, fmt.Errorf("there are more than %d", maxCores)
			}
			x.addCore(at.Addr(), c.EP)
			return c.Links, nil
		})
	})
}

func (x *lnx) addCore(at, ep inferior.Addr) {
	x.cores[at] = lnxCore{at: ep}
	x.order = append(x.order, at)
}
