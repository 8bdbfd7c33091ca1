package mqs

// Difference is one thing that the native decoder and a vendor's DLL tell
// differently of the same stop.
type Difference struct {
	// Communicator is its label, empty for the process as a whole.
	Communicator string
	// Queue is the queue's key in JSON, empty for the communicator itself.
	Queue string
	// Operation is its place in the native decoder's queue, counted from 0, or
	// in the DLL's if only that has it; unknown for a queue as a whole. What the
	// filter hides is not counted.
	Operation Maybe[int]
	// Field is the key in JSON of what differs. It is "communicator", "queue"
	// or "operation" where only one of the two has one, and "position" for an
	// operation that stands elsewhere in the order of matching, counted among
	// those that both have.
	Field string
	// Native and DLL are the two values in words, empty for one that is not known.
	Native, DLL string
}
