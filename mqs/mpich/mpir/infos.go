package mpir

import (
	"errors"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

const (
	maxInfo     = 1 << 12 // keys
	maxInfoText = 4 << 10 // bytes; MPI_MAX_INFO_VAL is 1024
)

func (s *Source) resolveInfo(h *mqs.Handle, number uint32) {
	if h.State == mqs.PredefinedHandle {
		return
	}
	_, first, ok := look(h, s.lib.pools.infos, number)
	if !ok {
		return
	}
	var err error
	if h.Info, err = s.lib.entries(&first); err != nil {
		h.Notes = append(h.Notes, "its keys may not be all: "+err.Error())
	}
}

// entries reads the keys and values of an MPI_Info.
func (l *Library) entries(of *info) ([]mqs.InfoEntry, error) {
	out := []mqs.InfoEntry{}
	add := func(key, value inferior.Text) error {
		k, err := key.Read(l.Reader, maxInfoText)
		if err != nil {
			return err
		}
		v, err := value.Read(l.Reader, maxInfoText)
		out = append(out, mqs.InfoEntry{Key: k, Value: v})
		return err
	}
	if hasMember(&l.o.info.Info, func(i *info) *inferior.Ptr[infoEntry] { return &i.Entries }) {
		if !l.o.info.Entry.Bound() || of.Size < 0 || of.Size > maxInfo {
			return nil, errors.New("they can't be read")
		}
		for i := range int(of.Size) {
			e, err := l.o.info.Entry.Read(l.Reader, inferior.At(&l.o.info.Entry, of.Entries, i))
			if err == nil {
				err = add(e.Key, e.Value)
			}
			if err != nil {
				return out, err
			}
		}
		return out, nil
	}
	var e info
	next := func(at inferior.Ptr[info]) (inferior.Ptr[info], error) {
		var err error
		e, err = l.o.info.Info.Read(l.Reader, at)
		return e.Next, err
	}
	for _, err := range inferior.Walk(of.Next, 0, maxInfo, next) {
		if err == nil {
			err = add(e.Key, e.Value)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}
