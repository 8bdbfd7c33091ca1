package mqs

import "testing"

// What is called the same is the same only with the same members, all of which have to be known.
func TestIsSame(t *testing.T) {
	group := func(ranks ...int32) (out []Maybe[int32]) {
		for _, r := range ranks {
			out = append(out, Known(r))
		}
		return out
	}
	unknown := []Maybe[int32]{Known[int32](0), {}}
	for name, c := range map[string]struct {
		a, b Communicator
		want bool
	}{
		"the same":                   {Communicator{Context: "3", Group: group(0, 1)}, Communicator{Context: "3", Group: group(0, 1)}, true},
		"other members":              {Communicator{Context: "3", Group: group(0, 1)}, Communicator{Context: "3", Group: group(2, 3)}, false},
		"another context":            {Communicator{Context: "3", Group: group(0, 1)}, Communicator{Context: "4", Group: group(0, 1)}, false},
		"no context":                 {Communicator{Group: group(0, 1)}, Communicator{Group: group(0, 1)}, false},
		"unknown groups":             {Communicator{Context: "3"}, Communicator{Context: "3"}, false},
		"unknown members":            {Communicator{Context: "3", Group: unknown}, Communicator{Context: "3", Group: unknown}, false},
		"two sides":                  {Communicator{Context: "3", Group: group(0), RemoteGroup: group(1)}, Communicator{Context: "3", Group: group(1), RemoteGroup: group(0)}, true},
		"two sides of another group": {Communicator{Context: "3", Group: group(0), RemoteGroup: group(1)}, Communicator{Context: "3", Group: group(1), RemoteGroup: group(2)}, false},
	} {
		if c.a.IsSame(&c.b) != c.want || c.b.IsSame(&c.a) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
}
