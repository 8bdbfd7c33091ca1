package layout

// A Want is a C type, and the members that a decoder takes of it.
type Want struct {
	Name string
	// Members are the spellings of each, newest first, with dots between levels. The first that
	// there is is taken.
	Members [][]string
}
