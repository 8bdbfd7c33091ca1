package dll

import "context"

// Found is the DLL that there is for a process.
type Found struct {
	// Path is that of the one that [Hosts.Open] would load, empty if there is none.
	Path string
	// Why there is none, as a sentence without its full stop.
	Why string
}

// Look looks for a process's DLL, and whether it is trusted, without loading it.
func (hs *Hosts) Look(ctx context.Context, p Process, s Settings) (Found, error) {
	found, err := find(ctx, p, s, hs.Log)
	if err != nil {
		return Found{}, err
	}
	if found.ignore {
		return Found{Why: "the program asks debuggers not to show its queues"}, nil
	}
	out := Found{}
	for _, c := range found.candidates {
		path, err := c.resolve(s.SafePath)
		if err == nil {
			return Found{Path: path}, nil
		}
		if out.Why == "" {
			out.Why = err.Error()
		}
	}
	if out.Why == "" {
		out.Why = found.none().Error()
	}
	return out, nil
}
