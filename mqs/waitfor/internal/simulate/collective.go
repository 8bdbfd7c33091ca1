package simulate

import "slices"

// collectiveMessage is one message by which the library carries out a collective.
type collectiveMessage struct {
	send bool
	peer int32
}

// tagOf returns the tag that the library gives to the messages of a collective.
func tagOf(name string) int32 {
	if at := slices.Index(synchronising, name); at >= 0 {
		return int32(-20 - at)
	}
	if at := slices.Index(rooted, name); at >= 0 {
		return int32(-30 - at)
	}
	return -40
}

// stages returns the messages of a collective for one member. Those of a stage are started together,
// and all of them are over before the next stage.
func (j *Job) stages(c *Call, of *side) [][]collectiveMessage {
	n, me := int32(len(of.of.peers(of.at))), of.local
	others := func(send bool) []collectiveMessage {
		var out []collectiveMessage
		for i := range n {
			if i != me || of.of.Inter {
				out = append(out, collectiveMessage{send, i})
			}
		}
		return out
	}
	isAtRoot := c.Root == me
	switch {
	case of.of.Inter:
		return [][]collectiveMessage{slices.Concat(others(true), others(false))}
	case n == 1:
		return nil
	case c.Name == "MPI_Scan":
		var out [][]collectiveMessage
		if me > 0 {
			out = append(out, []collectiveMessage{{false, me - 1}})
		}
		if me < n-1 {
			out = append(out, []collectiveMessage{{true, me + 1}})
		}
		return out
	case c.Name == "MPI_Bcast" && j.Dissemination:
		return tree(c.Root, me, n)
	case c.Name == "MPI_Bcast" || c.Name == "MPI_Scatter":
		if isAtRoot {
			return [][]collectiveMessage{others(true)}
		}
		return [][]collectiveMessage{{{false, c.Root}}}
	case c.Name == "MPI_Gather" && isAtRoot:
		return [][]collectiveMessage{others(false)}
	case c.Name == "MPI_Reduce" && isAtRoot: // one after the other
		var out [][]collectiveMessage
		for _, p := range others(false) {
			out = append(out, []collectiveMessage{p})
		}
		return out
	case slices.Contains(rooted, c.Name):
		return [][]collectiveMessage{{{true, c.Root}}}
	case j.Dissemination:
		var out [][]collectiveMessage
		for step := int32(1); step < n; step *= 2 {
			out = append(out, []collectiveMessage{{true, (me + step) % n}, {false, (me + n - step) % n}})
		}
		return out
	case me == 0:
		return [][]collectiveMessage{others(false), others(true)}
	}
	return [][]collectiveMessage{{{true, 0}}, {{false, 0}}}
}

// tree returns the messages of a broadcast for one member. All members hand on what they have
// received: in step k, the first 2^k members from the root on send to as many more.
func tree(root, me, n int32) [][]collectiveMessage {
	var out [][]collectiveMessage
	nth := (me + n - root) % n
	for step := int32(1); step < n; step *= 2 {
		switch {
		case nth < step && nth+step < n:
			out = append(out, []collectiveMessage{{true, (me + step) % n}})
		case nth >= step && nth < 2*step:
			out = append(out, []collectiveMessage{{false, (me + n - step) % n}})
		}
	}
	return out
}
