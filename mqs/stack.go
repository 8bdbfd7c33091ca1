package mqs

// StackFrame is a frame of a stack as far as frames of different processes can be the same.
type StackFrame struct {
	// Function is its name, empty if it has none. An MPI call has its plain name in C.
	Function string
	// File is the source of a function of the program, Line where in the file the call of the next frame is.
	// A library's function has none.
	File string
	Line int
	// Object is the path of the library that the function is in, empty if it is in the program.
	Object string
	// IsCall is true of an MPI call.
	IsCall bool
	// IsGap stands for the outer frames of a stack that can't be followed to its end.
	IsGap bool
}

// Stack is the stack of one thread.
type Stack struct {
	// Thread is the debugger's number for the thread.
	Thread int
	// Frames from the outermost inwards. There are none of a thread that can't be read.
	Frames []StackFrame
}
