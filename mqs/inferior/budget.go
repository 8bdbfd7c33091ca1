package inferior

import "fmt"

// What reading one process may make, in bytes. A process that is as it should be has each
// object in memory of its own, so what is made of them grows with the memory that was read;
// in a broken one, or a hostile one, a thousand pointers can lead to the same object, or a
// number can stand for a list.
const (
	// freeMade is made of a process however little memory it has.
	freeMade = int64(32 << 20)
	// madePerByte is made of each byte of its memory that is there.
	madePerByte = 16
	// maxMade is made of no process. A rank with a million pending operations takes a
	// tenth of it.
	maxMade = int64(4 << 30)
	// objectCost counts for each object beside its own size: it stands in a list or a map.
	objectCost = 64
	// maxAsked bounds the memory that is asked for, whether it is there or not.
	maxAsked = int64(8 << 30)
	// spendsPerLook is after how many objects it is asked whether the request goes on.
	spendsPerLook = 1024
)

// SpentError means that a process is not read any further: what it leads to is more than
// its memory can hold.
type SpentError struct{ reason string }

func (e *SpentError) Error() string { return e.reason }

// budget is what has been made of one process so far.
type budget struct {
	made, asked int64 // bytes
	objects     int
	spent       *SpentError // once it is used up
}

// held is an [Inferior] that knows how many bytes of memory it has in all.
type held interface{ Held() int64 }

// Spend accounts for an object of so many bytes that is made of what was read. It fails
// with a [*SpentError] once these are more than the process's memory warrants, as all
// reading does from then on, and if the request has been cancelled.
func (r *Reader) Spend(bytes int) error {
	b := &r.mem.budget
	if b.spent != nil {
		return b.spent
	}
	if b.objects++; b.objects%spendsPerLook == 0 {
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
	b.made += int64(bytes) + objectCost
	if limit := min(freeMade+madePerByte*r.mem.there(), maxMade); b.made > limit {
		b.spent = &SpentError{fmt.Sprintf("gave up after %d objects of %d MiB, made of %s of the process's memory: "+
			"they can't all be in it, so the process is broken or is just changing them", b.objects, b.made>>20, size(r.mem.there()))}
		return b.spent
	}
	return nil
}

// Spent is why the rest of the process is not read, nil as long as it can be.
func (r *Reader) Spent() error {
	if b := &r.mem.budget; b.spent != nil {
		return b.spent
	}
	return nil
}

func size(bytes int64) string {
	if bytes < 10<<20 {
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}
