package simulate

import "slices"

// part is one message of a collective.
type part struct {
	send bool
	peer int32
}

// tagOf is the tag that the library gives to the messages of a collective.
func tagOf(name string) int32 {
	if at := slices.Index(synchronising, name); at >= 0 {
		return int32(-20 - at)
	}
	if at := slices.Index(rooted, name); at >= 0 {
		return int32(-30 - at)
	}
	return -40
}

// stages are the messages of a collective for one member: those of a stage are started
// together, and all of them are over before the next one.
func (j *Job) stages(c *Call, of *side) [][]part {
	n, me := int32(len(of.of.peers(of.at))), of.local
	others := func(send bool) []part {
		var out []part
		for i := range n {
			if i != me || of.of.Inter {
				out = append(out, part{send, i})
			}
		}
		return out
	}
	isAtRoot := c.Root == me
	switch {
	case of.of.Inter:
		return [][]part{slices.Concat(others(true), others(false))}
	case n == 1:
		return nil
	case c.Name == "MPI_Scan":
		var out [][]part
		if me > 0 {
			out = append(out, []part{{false, me - 1}})
		}
		if me < n-1 {
			out = append(out, []part{{true, me + 1}})
		}
		return out
	case c.Name == "MPI_Bcast" && j.Dissemination:
		return tree(c.Root, me, n)
	case c.Name == "MPI_Bcast" || c.Name == "MPI_Scatter":
		if isAtRoot {
			return [][]part{others(true)}
		}
		return [][]part{{{false, c.Root}}}
	case c.Name == "MPI_Gather" && isAtRoot:
		return [][]part{others(false)}
	case c.Name == "MPI_Reduce" && isAtRoot: // one after the other
		var out [][]part
		for _, p := range others(false) {
			out = append(out, []part{p})
		}
		return out
	case slices.Contains(rooted, c.Name):
		return [][]part{{{true, c.Root}}}
	case j.Dissemination:
		var out [][]part
		for step := int32(1); step < n; step *= 2 {
			out = append(out, []part{{true, (me + step) % n}, {false, (me + n - step) % n}})
		}
		return out
	case me == 0:
		return [][]part{others(false), others(true)}
	}
	return [][]part{{{true, 0}}, {{false, 0}}}
}

// tree are the messages of a broadcast for one member, all of whom hand on what they have got:
// in step k, the first 2^k members from the root on send to as many more.
func tree(root, me, n int32) [][]part {
	var out [][]part
	nth := (me + n - root) % n
	for step := int32(1); step < n; step *= 2 {
		switch {
		case nth < step && nth+step < n:
			out = append(out, []part{{true, (me + step) % n}})
		case nth >= step && nth < 2*step:
			out = append(out, []part{{false, (me + n - step) % n}})
		}
	}
	return out
}
