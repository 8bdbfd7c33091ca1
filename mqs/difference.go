package mqs

// Difference is one thing that the native decoder and a vendor's DLL tell
// differently of the same stop.
type Difference struct {
	// Communicator is its name and id. There is none for the process as a whole.
	Communicator string `json:"communicator" document:"null"`
	// Queue is the key of the queue. There is none for the communicator as a whole.
	Queue string `json:"queue" document:"null,words=OpClass"`
	// Operation is its place in the native decoder's queue, counted from 0, or
	// in the DLL's if only that has it; not known for a queue as a whole. What the
	// filter hides is not counted.
	Operation Maybe[int] `json:"operation" document:"min=0"`
	// Field is the key of what differs. It is "communicator", "queue"
	// or "operation" where only one of the two has one, and "position" for an
	// operation that stands elsewhere in the order of matching, counted among
	// those that both have.
	Field string `json:"field"`
	// Native is the native decoder's value in words, if it has one.
	Native string `json:"native" document:"null"`
	// DLL is the DLL's value in words, if it has one.
	DLL string `json:"dll" document:"null"`
}
