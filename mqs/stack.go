package mqs

// StackFrame is a frame of a stack as far as frames of different processes can be the same.
type StackFrame struct {
	// Function is its name. An MPI call has its plain name in C.
	Function string `json:"function" document:"null"`
	// File is the source of a function of the program, as the compiler was given it. A library's function has none.
	File string `json:"file" document:"null"`
	// Line is where in the file the call of the next frame is.
	Line int `json:"line" document:"null,min=1"`
	// Object is the path of the library that the function is in. The program's own have none.
	Object string `json:"object" document:"null"`
	// IsCall is true of an MPI call.
	IsCall bool `json:"mpi_call"`
	// IsGap stands for the outer frames of a stack that can't be followed to its end.
	IsGap bool `json:"gap"`
}

// Stack is the stack of one thread.
type Stack struct {
	// Thread is the debugger's number for the thread.
	Thread int `json:"thread"`
	// Frames are from the outermost inwards. There are none of a thread that can't be read.
	Frames []StackFrame `json:"frames"`
}
