package ofi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	mq "github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// psmTags is how the provider puts a tag, data beside it and flags into psm's 96 bits: the flags stand above 60 bits of tag,
// or above 28 bits of data (prov/psm3/src/psmx3.h, prov/psm2/src/psmx2.h, 1.17 to 2.6). Which of both is not known before a
// receive tells it.
type psmTags int

const (
	psmTagsUnknown psmTags = iota
	psmTags60
	psmTags64
)

// What the four flags say of a message.
const (
	psmFlagShift  = 28
	psmTypeFlags  = 0xc // 0 of a tagged message
	psmPartsFlag  = 0x2 // what is sent is where the parts are
	psmDataFlag   = 0x1
	psmDataBits64 = 1<<psmFlagShift - 1
	psmTagBits60  = 1<<60 - 1
)

// errPSMTags means that a message can be understood in two ways.
var errPSMTags = errors.New("nothing tells how many bits its tag has")

// comparedBy is how tags stand by what a receive compares.
func comparedBy(r *mq.Found) psmTags {
	switch {
	case r.SelMore == psmTypeFlags<<psmFlagShift:
		return psmTags64
	case r.SelMore == 0 && r.SelHigh>>psmFlagShift == psmTypeFlags:
		return psmTags60
	}
	return psmTagsUnknown
}

// standing is how tags stand by all that a request has: in 64 bits, there is data only beside a flag above it.
func standing(r *mq.Found) psmTags {
	is := comparedBy(r)
	switch {
	case is != psmTagsUnknown || r.More == 0:
		return is
	case r.More>>psmFlagShift != 0: // there is no data so large
		return psmTags64
	}
	return psmTags60
}

// oldTags finds out how tags stand by requests that may be over. Those that do not agree tell nothing.
func oldTags(requests []mq.Found) psmTags {
	out := psmTagsUnknown
	for i := range requests {
		is := standing(&requests[i])
		if is == psmTagsUnknown {
			continue
		}
		if out != psmTagsUnknown && out != is {
			return psmTagsUnknown
		}
		out = is
	}
	return out
}

// learn finds out by what a receive compares how tags stand, and says whether it is one of tagged messages.
func (t *psmTags) learn(r *mq.Found) (isTagged bool, err error) {
	is := comparedBy(r)
	if is == psmTagsUnknown || *t != psmTagsUnknown && *t != is {
		return false, fmt.Errorf("the receive at %s compares other bits of tags than libfabric does", r.At)
	}
	*t = is
	isTagged, _ = t.isTagged(r)
	return isTagged, nil
}

// flags are a message's, false if nothing tells where they stand. What a message has itself may tell.
func (t psmTags) flags(r *mq.Found) (uint32, bool) {
	switch {
	case t == psmTagsUnknown && r.More>>psmFlagShift != 0: // there is no data so large
		t = psmTags64
	case t == psmTagsUnknown && r.More != 0:
		t = psmTags60
	case t == psmTagsUnknown && r.High>>psmFlagShift == 0: // both are the same
		t = psmTags64
	}
	switch t {
	case psmTags64:
		return r.More >> psmFlagShift, true
	case psmTags60:
		return r.High >> psmFlagShift, true
	}
	return 0, false
}

// isTagged says whether a message is tagged, if that can be told.
func (t psmTags) isTagged(r *mq.Found) (is, isTold bool) {
	flags, isTold := t.flags(r)
	return flags&psmTypeFlags == 0, isTold
}

// tag is a message's, or a receive's, of which the flags can be told.
func (t psmTags) tag(r *mq.Found) uint64 {
	tag := uint64(r.High)<<32 | uint64(r.Low)
	if t == psmTags60 || t == psmTagsUnknown && r.More != 0 && r.More>>psmFlagShift == 0 {
		tag &= psmTagBits60
	}
	return tag
}

// mask are the bits of a tag that a receive compares. Those that libfabric has no room for are the same in all.
func (t psmTags) mask(r *mq.Found) uint64 {
	mask := uint64(r.SelHigh)<<32 | uint64(r.SelLow)
	if t == psmTags60 {
		mask |= ^uint64(psmTagBits60)
	}
	return mask
}

// beside is the data beside a message's tag.
func (t psmTags) beside(r *mq.Found, flags uint32) mqs.Maybe[uint64] {
	data := uint64(r.More)
	if t == psmTags64 || t == psmTagsUnknown && r.More>>psmFlagShift != 0 {
		data &= psmDataBits64
	}
	return mqs.Maybe[uint64]{Value: data, Known: flags&psmDataFlag != 0}
}
