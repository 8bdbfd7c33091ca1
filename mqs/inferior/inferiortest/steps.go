package inferiortest

import (
	"context"
	"fmt"
)

// Steps is a context that counts the steps of a reading, and ends one that takes too many. A reading asks
// its context whether to go on for each range of memory that is fetched, and after every so many objects:
// the number is the same on every machine.
type Steps struct {
	context.Context
	// Taken is how many steps there have been, Most how many there may be; 0 is no bound.
	Taken, Most int
}

// Err is [context.Context.Err]. It fails once there have been too many steps.
func (s *Steps) Err() error {
	if s.Taken++; s.Most > 0 && s.Taken > s.Most {
		return fmt.Errorf("it goes on after %d steps", s.Most)
	}
	return s.Context.Err()
}
