package layout

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Option is how a build that was configured with some of a release's options lays out the types.
type Option struct {
	// With are the names of the options, in order.
	With []string `json:"with"`
	// Types are the differences from the expected types (see [Table.Expect]). For one option, the expected types are those without it; for
	// several, those with the changes of each added up. If the base table has options, the expected types are this table's with the base's
	// changes for the same options; for several options, also with what a single one changes differently here. A type that is null is
	// absent.
	Types map[string]*Change `json:"types"`
}

// Change is how a type differs from another layout of it.
type Change struct {
	// Size is the new size in bytes, 0 if it is the same.
	Size int `json:"size,omitempty"`
	// Fields are the members that differ. One that is null is absent.
	Fields map[string]*Member `json:"fields,omitempty"`
}

// Base bases the table on another one.
func (t *Table) Base(on *Table) { t.BasedOn, t.base = on.Name, on }

// Diff returns how a type differs from an old layout of it; nil if it does not.
func Diff(old, now Type) *Change {
	c := &Change{Fields: map[string]*Member{}}
	if old.Size != now.Size {
		c.Size = now.Size
	}
	for name, m := range now.Fields {
		if old.Fields[name] != m {
			c.Fields[name] = &m
		}
	}
	for name := range old.Fields {
		if _, ok := now.Fields[name]; !ok {
			c.Fields[name] = nil
		}
	}
	if c.Size == 0 && len(c.Fields) == 0 {
		return nil
	}
	return c
}

// DiffTypes returns how types differ from others.
func DiffTypes(old, now map[string]Type) map[string]*Change {
	out := map[string]*Change{}
	for name, t := range now {
		if c := Diff(old[name], t); c != nil {
			out[name] = c
		}
	}
	for name := range old {
		if _, ok := now[name]; !ok {
			out[name] = nil
		}
	}
	return out
}

// apply makes the changes. The types may share their members with others.
func apply(changes map[string]*Change, types map[string]Type) {
	for name, change := range changes {
		if change == nil {
			delete(types, name)
			continue
		}
		t := types[name]
		if t.Fields = maps.Clone(t.Fields); t.Fields == nil {
			t.Fields = map[string]Member{}
		}
		t.Size = cmp.Or(change.Size, t.Size)
		for field, m := range change.Fields {
			if m == nil {
				delete(t.Fields, field)
			} else {
				t.Fields[field] = *m
			}
		}
		types[name] = t
	}
}

// OptionNames are the names of the options that the table, or one that it is based on, has layouts for, in order.
func (t *Table) OptionNames() []string {
	var out []string
	for ; t != nil; t = t.base {
		for _, o := range t.Options {
			out = append(out, o.With...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Variants yields all tables, then what each becomes with each of its options, with each two of them, and so on.
func Variants(tables []*Table) iter.Seq[*Table] {
	return func(yield func(*Table) bool) {
		most := 0
		for n := 0; n <= most; n++ {
			for _, t := range tables {
				names := t.OptionNames()
				most = max(most, len(names))
				for _, with := range Combinations(names) {
					if len(with) == n && !yield(t.variant(with)) {
						return
					}
				}
			}
		}
	}
}

// variant is the table of a build with some of the options.
func (t *Table) variant(with []string) *Table {
	if len(with) == 0 {
		return t
	}
	return t.variants.of(with, func() *Table {
		v := t.Alone()
		v.With, v.Types = with, t.TypesWith(with)
		return v
	})
}

// Alone returns the table without options.
func (t *Table) Alone() *Table {
	v := *t
	v.Options, v.base, v.variants = nil, nil, nil
	return &v
}

// variants caches the tables that are derived from a table for combinations of its options.
type variants struct {
	mu   sync.Mutex
	made map[string]*Table
}

// of returns the variant with some options, which is made once. A nil variants keeps nothing.
func (v *variants) of(with []string, made func() *Table) *Table {
	if v == nil {
		return made()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	key := strings.Join(with, "\n")
	if v.made[key] == nil {
		v.made[key] = made()
	}
	return v.made[key]
}

// Combinations returns all combinations of names, those of the fewest first, and so none of them first of all.
func Combinations(names []string) [][]string {
	var out [][]string
	for set := 0; set < 1<<len(names); set++ {
		var with []string
		for i, name := range names {
			if set&(1<<i) != 0 {
				with = append(with, name)
			}
		}
		out = append(out, with)
	}
	slices.SortStableFunc(out, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
	return out
}

// TypesWith returns the types of a build with some of the options, whose names are in order.
func (t *Table) TypesWith(with []string) map[string]Type {
	out := t.Expect(with)
	for _, o := range t.Options {
		if slices.Equal(o.With, with) {
			apply(o.Types, out)
		}
	}
	return out
}

// Expect returns what [Option] calls the expected types of a build with some of the options.
func (t *Table) Expect(with []string) map[string]Type {
	out := maps.Clone(t.Types)
	switch {
	case t.base != nil && len(t.base.OptionNames()) > 0:
		follow(out, t.base.Types, t.base.TypesWith(with), shiftType)
		for _, o := range t.Options { // what single options change here in another way
			if len(with) > 1 && len(o.With) == 1 && slices.Contains(with, o.With[0]) {
				follow(out, t.Expect(o.With), t.TypesWith(o.With), shiftType)
			}
		}
	case len(with) > 1:
		for _, name := range with {
			follow(out, t.Types, t.TypesWith([]string{name}), shiftType)
		}
	}
	return out
}

// follow applies to values the changes that turn others into became. shift does so for a single value.
func follow[V any](values, others, became map[string]V, shift func(v, from, to V) V) {
	for name, to := range became {
		from, was := others[name]
		v, is := values[name]
		switch {
		case was && is:
			values[name] = shift(v, from, to)
		case !was && !is:
			values[name] = to
		}
	}
	for name := range others {
		if _, ok := became[name]; !ok {
			delete(values, name)
		}
	}
}

// shiftType returns the changed type. It does not modify the old one's members, because other types may share them.
func shiftType(t, from, to Type) Type {
	if from.Size == to.Size && maps.Equal(from.Fields, to.Fields) {
		return t
	}
	t.Size += to.Size - from.Size
	t.Fields = maps.Clone(t.Fields)
	follow(t.Fields, from.Fields, to.Fields, shiftMember)
	return t
}

func shiftMember(m, from, to Member) Member {
	m.Offset += to.Offset - from.Offset
	m.Size += to.Size - from.Size
	if to.Kind != from.Kind || to.Type != from.Type {
		m.Kind, m.Type = to.Kind, to.Type
	}
	return m
}

// String names the release, and the options with which a build of it has these layouts.
func (t *Table) String() string {
	if len(t.With) == 0 {
		return t.Release
	}
	return t.Release + " with " + strings.Join(t.With, " and ")
}
