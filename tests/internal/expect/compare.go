package expect

import (
	"fmt"
	"slices"
	"strings"
)

// Compare says, a line for each, how a process of a document differs from its
// account. Every communicator of the account must be there, and no other but
// predefined ones that are idle; every operation, and no other.
//
// The order of operations is that of matching. MPI knows no such order between
// the destinations of sends, nor between the sources of unexpected messages
// (and Open MPI's ob1 keeps none), so only that of each peer's is compared.
func Compare(account *Account, process Object) []string {
	return Fidelity{}.Compare(account, process)
}

// Compare is [Compare] for a library that does not keep everything.
func (k Fidelity) Compare(account *Account, process Object) []string {
	d := differences{fidelity: k}
	said := Object{"global_rank": account.GlobalRank, "world_size": account.WorldSize}
	for _, key := range sortedKeys(said) {
		d.own(key, said, process)
	}
	d.value("pid", fmt.Sprint(account.PID), fmt.Sprint(process["pid"]))
	if len(account.Communicators) > 0 {
		d.value("unavailable", nil, process["unavailable"])
	}
	d.communicators(account.Communicators, Communicators(process))
	for i := range d.lines {
		d.lines[i] = account.Name + ": " + d.lines[i]
	}
	return d.lines
}

// differences between what is wanted and what is there, as far as the library keeps it.
type differences struct {
	fidelity Fidelity
	comm     Object // the account's communicator that it is about
	lines    []string
	open     int // values that are not known, and need not be
}

// inner is for differences of a part.
func (d *differences) inner() differences { return differences{fidelity: d.fidelity, comm: d.comm} }

func (d *differences) addf(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *differences) value(key string, want, got any) {
	if show(want) != show(got) {
		d.addf("%s is %s, want %s", key, show(got), show(want))
	}
}

// own compares a value of a communicator, or of the process if there is none.
func (d *differences) own(key string, want, got Object) {
	if show(want[key]) != show(got[key]) && d.fidelity.mayLackValue(d.comm, "", key, want, got) {
		d.open++
		return
	}
	d.value(key, want[key], got[key])
}

func (d *differences) within(where string, inner differences) {
	d.open += inner.open
	for _, line := range inner.lines {
		d.addf("%s: %s", where, line)
	}
}

// closer says whether a comparison fits better than another: it differs less,
// or leaves less open.
func (d *differences) closer(other differences) bool {
	if len(d.lines) != len(other.lines) {
		return len(d.lines) < len(other.lines)
	}
	return d.open < other.open
}

// communicators pairs the accounts' communicators with those shown. Names need
// not be unique or known, so among those of the right name the best fit is taken.
func (d *differences) communicators(want, got []Object) {
	want, got = d.withoutElsewhere(want, got)
	left := slices.Clone(got)
	ordered := slices.Clone(want)
	slices.SortStableFunc(ordered, func(a, b Object) int { return d.vague(a) - d.vague(b) })
	for _, w := range ordered {
		best, fit := -1, d.inner()
		for i, g := range left {
			if d.fidelity.OnlyWorldListed && d.idle(g) && !predefined(g) {
				continue
			}
			if name, ok := w["name"]; ok && show(name) != show(g["name"]) && !d.fidelity.mayLackValue(w, "", "name", w, g) {
				continue
			}
			if inner := d.communicator(w, g); best < 0 || inner.closer(fit) {
				best, fit = i, inner
			}
		}
		mayMiss := d.fidelity.mayBeUnlisted(w)
		if best < 0 || mayMiss && len(fit.lines) > 0 {
			if !mayMiss {
				d.addf("communicator %s is not shown", show(w["name"]))
			}
			continue
		}
		d.within("communicator "+label(left[best]), fit)
		left = slices.Delete(left, best, best+1)
	}
	for _, g := range left {
		if !d.idle(g) || !predefined(g) && !hasOwner(g) {
			d.addf("communicator %s (size %s) is shown, and should not be there", label(g), show(g["size"]))
		}
	}
}

// vague says how little tells a communicator of an account from others.
func (d *differences) vague(c Object) int {
	vague := 0
	if _, ok := c["name"]; !ok {
		vague = 1
	}
	if d.fidelity.mayBeUnlisted(c) {
		vague += 2
	}
	return vague
}

func label(c Object) string { return show(c["name"]) + " " + fmt.Sprint(c["unique_id"]) }

// hasOwner says whether a communicator is the library's, for a window or a file of the program's.
func hasOwner(c Object) bool { return c["window"] != nil || c["file"] != nil }

func predefined(c Object) bool {
	name, _ := c["name"].(string)
	return slices.Contains([]string{"MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_PARENT"}, name)
}

func (d *differences) idle(c Object) bool {
	for _, q := range Queues {
		if ops, ok := Operations(c, q); !ok && !d.fidelity.mayBeUnavailable(q, c) || len(ops) > 0 {
			return false
		}
	}
	return true
}

func (outer *differences) communicator(want, got Object) differences {
	d := outer.inner()
	d.comm = want
	for _, key := range sortedKeys(want) {
		if key != "freed" && !slices.Contains(Queues, key) {
			d.own(key, want, got)
		}
	}
	inter := want["remote_group"] != nil
	if got["inter"] != inter && (got["inter"] != nil || !d.fidelity.mayLackValue(want, "", "inter", want, got)) {
		d.addf("inter is %s, want %t", show(got["inter"]), inter)
	}
	if got["internal"] != false {
		d.addf("internal is %s, want false", show(got["internal"]))
	}
	for _, q := range Queues {
		ops, ok := Operations(got, q)
		if !ok && d.fidelity.mayBeUnavailable(q, got) {
			d.open++
			continue
		}
		if !ok {
			reasons, _ := got["unavailable"].(map[string]any)
			d.addf("%s is null (%v)", q, reasons[q])
			continue
		}
		wanted, _ := Operations(want, q)
		if q == "unexpected_messages" {
			ops = held(want, ops)
		}
		wanted, unordered := d.fidelity.split(want, q, wanted)
		ops, unorderedOps := d.fidelity.split(want, q, ops)
		d.within(q+" in no order", d.unordered(q, unordered, unorderedOps))
		if q == "pending_receives" {
			d.within(q, d.ordered(q, wanted, ops))
			continue
		}
		peers := peersOf(wanted, ops)
		for _, peer := range peers {
			inner := d.ordered(q, withPeer(wanted, peer), withPeer(ops, peer))
			d.within(fmt.Sprintf("%s with peer %s", q, peer), inner)
		}
	}
	return d
}

// held takes messages that MPI_Improbe took out of the queue from those that
// are unexpected: an account has them as optional receives, since libraries
// differ in where such a message is.
func held(want Object, ops []Object) (others []Object) {
	probes, _ := Operations(want, "pending_receives")
	for _, op := range ops {
		of := slices.IndexFunc(probes, func(p Object) bool { return p["kind"] == "improbe" && sameMessage(p, op) })
		if of < 0 || op["status"] != "matched" {
			others = append(others, op)
			continue
		}
		probes = slices.Delete(slices.Clone(probes), of, of+1)
	}
	return others
}

// sameMessage compares all that tells a message.
func sameMessage(want, got Object) bool {
	for _, key := range []string{"actual_local_rank", "actual_global_rank", "actual_tag", "actual_length"} {
		if show(want[key]) != show(got[key]) {
			return false
		}
	}
	return true
}

func peerOf(op Object) string { return show(op["desired_local_rank"]) }

func peersOf(lists ...[]Object) []string {
	var out []string
	for _, op := range slices.Concat(lists...) {
		if p := peerOf(op); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

func withPeer(ops []Object, peer string) []Object {
	var out []Object
	for _, op := range ops {
		if peerOf(op) == peer {
			out = append(out, op)
		}
	}
	return out
}

// ordered compares operations one by one. Those that are optional are skipped
// where what stands in their place is not them.
func (outer *differences) ordered(queue string, want, got []Object) differences {
	d := outer.inner()
	k := 0
	for i, w := range want {
		if k == len(got) {
			if w["optional"] != true {
				d.addf("[%d] is missing: %s", i, show(w))
			}
			continue
		}
		inner := d.operation(queue, w, got[k])
		if len(inner.lines) > 0 && w["optional"] == true && !same(w, got[k]) {
			continue
		}
		d.within(fmt.Sprintf("[%d]", i), inner)
		k++
	}
	for ; k < len(got); k++ {
		d.addf("[%d] should not be there: %s", k, show(got[k]))
	}
	return d
}

// same tells an operation that is meant by another, however it may differ.
func same(want, got Object) bool {
	return show(want["desired_tag"]) == show(got["desired_tag"]) && show(want["count"]) == show(got["count"])
}

func (outer *differences) operation(queue string, want, got Object) differences {
	d := outer.inner()
	for _, key := range sortedKeys(want) {
		w, g := want[key], got[key]
		if show(w) != show(g) && d.fidelity.mayLackValue(d.comm, queue, key, want, got) {
			d.open++
			continue
		}
		switch key {
		case "optional":
		case "cancelled":
			if w == true && !strings.Contains(extraText(got), "cancelled") {
				d.addf("extra_text is %s, want it to say cancelled", show(got["extra_text"]))
			}
		case "kind":
			if !KindFits(fmt.Sprint(w), fmt.Sprint(g)) {
				d.addf("kind is %s, want %s", show(g), show(w))
			}
		default:
			d.value(key, w, g)
		}
	}
	if got["internal"] != false {
		d.addf("internal is %s, want false", show(got["internal"]))
	}
	return d
}

func extraText(op Object) string {
	lines, _ := op["extra_text"].([]any)
	var out []string
	for _, l := range lines {
		out = append(out, fmt.Sprint(l))
	}
	return strings.Join(out, "; ")
}

// KindFits compares how an operation was made. A library's request does not
// know MPI_Imrecv from MPI_Irecv; nor those of UCX and of MPICH's ch4 a ready send from a
// standard one.
func KindFits(want, got string) bool {
	also := map[string][]string{
		"persistent_send":  {"send_init"},
		"persistent_bsend": {"bsend_init"},
		"persistent_ssend": {"ssend_init"},
		"persistent_rsend": {"rsend_init", "send_init"},
		"persistent_recv":  {"recv_init"},
		"partitioned_send": {"psend_init"},
		"partitioned_recv": {"precv_init"},
		"irsend":           {"irsend", "isend"},
		"imrecv":           {"imrecv", "irecv"},
		"improbe":          {"improbe", "mprobe"},
		"sendrecv":         {"isend", "irecv"},
	}
	if kinds, ok := also[want]; ok {
		return slices.Contains(kinds, got)
	}
	return want == got
}

func sortedKeys(o Object) []string {
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
