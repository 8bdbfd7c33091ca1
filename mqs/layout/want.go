package layout

// A Want is a C type, and the members that a decoder takes of it.
type Want struct {
	Name    string
	Members []WantedMember
}

// A WantedMember is a member that a decoder takes.
type WantedMember struct {
	// Paths are its spellings, newest first, with dots between levels. The first that there is is
	// taken.
	Paths []string
	// IsOptional is true where a decoder does without it.
	IsOptional bool
}
