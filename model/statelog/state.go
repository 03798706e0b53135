package statelog

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"

	"processidea/model/jsonval"
)

// Write is one patch to State, with its author and its place in the Plan.
type Write struct {
	Path jsonval.Path `json:"path"`
	// Method is how Value changes what stands there; empty is write-once.
	Method string `json:"method,omitempty"`
	Value  any    `json:"value"`
	By     string `json:"by"` // a Call's id, or a person's name
	// Request and Index are the author's place in the Plan.
	Request int       `json:"request"`
	Index   int       `json:"index"`
	At      time.Time `json:"at,omitzero"`
	// Correction counts what people set at one place in the Plan, after what the Calls wrote there; 0 is no correction.
	Correction int `json:"correction,omitempty"`
	// Reason is why a person set the value.
	Reason string `json:"reason,omitempty"`
}

// precedes reports whether the write stands before a place in the Plan.
func (w Write) precedes(request, index int) bool {
	return w.Request < request || (w.Request == request && w.Index < index)
}

// isUpdate reports whether the write is an update, whose place in the Plan decides who sees it.
func (w Write) isUpdate() bool { return IsUpdate(w.Method, w.Path) }

// IsUpdate reports whether a write with a method at a path is an update. A write of the whole State assigns top-level keys and is
// one.
func IsUpdate(method string, path jsonval.Path) bool { return method != "" || len(path) == 0 }

// State is the JSON object of one instance: what it started with, and every write since, kept as patches.
type State struct {
	// Initial is what the instance started with.
	Initial any
	// Current is Initial with all writes. The next write may change its top-level keys: Value gives what can be kept.
	Current any
	writes  []Write // in Plan order
	// ownsCurrent is true if nobody else holds the object Current, so that a write may set its keys. The values under them are
	// shared and never changed.
	ownsCurrent bool
	// byFirstStep indexes the writes by the first step of their paths. It is nil if one of them writes the whole State, and in
	// a State that only lives for one look.
	byFirstStep map[string][]Write
}

// New begins a State with what an instance starts with; nil is an empty object.
func New(initial any) *State {
	if initial == nil {
		initial = map[string]any{}
	}
	return &State{Initial: initial, Current: initial, byFirstStep: map[string][]Write{}}
}

// Resume restores a State from what Writes gave.
func Resume(initial any, writes []Write) *State {
	s := New(initial)
	for _, w := range writes {
		s.addToIndex(w)
	}
	s.writes = writes
	s.rebuild()
	return s
}

// Value gives the State with every write so far. No later write changes what was given.
func (s *State) Value() any {
	s.ownsCurrent = false
	return s.Current
}

// Writes lists the writes so far, in Plan order.
func (s *State) Writes() []Write { return s.writes }

// Apply adds a write at its place in the Plan. Only if a later write overlaps it are all of them applied again.
func (s *State) Apply(w Write) {
	var at int
	s.writes, at = insertWrite(s.writes, w)
	s.addToIndex(w)
	if anyOverlaps(s.writes[at+1:], w.Path) {
		s.rebuild()
		return
	}
	s.applyLatest(w)
}

// insertWrite inserts a write at its place in Plan order, and gives the index.
func insertWrite(writes []Write, w Write) (with []Write, at int) {
	at = sort.Search(len(writes), func(i int) bool {
		o := writes[i]
		return !o.precedes(w.Request, w.Index) && (w.precedes(o.Request, o.Index) || o.Correction >= w.Correction)
	})
	return slices.Insert(writes, at, w), at
}

// addToIndex adds a write to byFirstStep.
func (s *State) addToIndex(w Write) {
	switch {
	case len(w.Path) == 0:
		s.byFirstStep = nil
	case s.byFirstStep != nil:
		s.byFirstStep[w.Path[0]], _ = insertWrite(s.byFirstStep[w.Path[0]], w)
	}
}

// writesThatMayOverlap lists, in Plan order, at least all writes that overlap a path.
func (s *State) writesThatMayOverlap(p jsonval.Path) []Write {
	if len(p) == 0 || s.byFirstStep == nil {
		return s.writes
	}
	return s.byFirstStep[p[0]]
}

// Has reports whether the State has a write already, by author, place in the Plan and path.
func (s *State) Has(w Write) bool {
	return slices.ContainsFunc(s.writesThatMayOverlap(w.Path), func(o Write) bool {
		return o.By == w.By && o.Request == w.Request && o.Index == w.Index && o.Correction == w.Correction && slices.Equal(o.Path, w.Path)
	})
}

// anyOverlaps reports whether one of the writes overlaps a path. If none does, the order of applying them does not matter.
func anyOverlaps(writes []Write, p jsonval.Path) bool {
	return slices.ContainsFunc(writes, func(w Write) bool { return w.Path.Overlaps(p) })
}

// rebuild applies all writes to Initial.
func (s *State) rebuild() {
	s.Current, s.ownsCurrent = s.Initial, false
	for _, w := range s.writes {
		s.applyLatest(w)
	}
}

// applyLatest applies a write after all others. If something other than an object is in the way, nothing changes. An object that
// the State owns is written to instead of copied: to copy a thousand keys for each of a thousand writes would cost a million.
func (s *State) applyLatest(w Write) {
	m, ok := s.Current.(map[string]any)
	switch {
	case len(w.Path) == 0:
		s.Current, s.ownsCurrent = combine(cmp.Or(w.Method, methodAssign), s.Current, w.Value), false
		return
	case !ok: // there is no path below what is no object
		return
	case !s.ownsCurrent:
		m = maps.Clone(m)
		s.Current, s.ownsCurrent = m, true
	}
	old, _ := jsonval.Lookup(m, w.Path)
	if below, ok := jsonval.Put(m[w.Path[0]], w.Path[1:], combine(w.Method, old, w.Value)); ok {
		m[w.Path[0]] = below
	}
}

// filterWrites gives the State with only the writes that keep accepts. It holds at and around the path p alone, which makes it
// cheap.
func (s *State) filterWrites(p jsonval.Path, keep func(Write) bool) *State {
	writes := s.writesThatMayOverlap(p)
	dropped := func(w Write) bool { return w.Path.Overlaps(p) && !keep(w) }
	if !slices.ContainsFunc(writes, dropped) {
		s.ownsCurrent = s.ownsCurrent && len(p) > 0 // a caller that looks at the whole may keep it
		return s
	}
	part := &State{Initial: s.Initial}
	for _, w := range writes {
		if keep(w) && w.Path.Overlaps(p) {
			part.writes = append(part.writes, w)
		}
	}
	part.rebuild()
	return part
}

// Before gives the State with the writes before a place in the Plan. It holds at and around the path p alone.
func (s *State) Before(request, index int, p jsonval.Path) *State {
	return s.filterWrites(p, func(w Write) bool { return w.precedes(request, index) })
}

// SeenFrom gives the State as a Call at a place in the Plan sees it: with every write-once value, and with the updates before
// that place. It holds at and around the path p alone.
func (s *State) SeenFrom(request, index int, p jsonval.Path) *State {
	return s.filterWrites(p, func(w Write) bool { return !w.isUpdate() || w.precedes(request, index) })
}

// WithoutWritten gives a result for the whole State without the keys that a Call or a person wrote, there or below: such a
// result may replace what the instance started with, never what was written.
func (s *State) WithoutWritten(value any) any {
	out := map[string]any{}
	m, _ := value.(map[string]any)
	//workflowcheck:ignore -- each key by itself, in any order
	for k, v := range m {
		if WriterOf(s.writesThatMayOverlap(jsonval.Path{k}), jsonval.Path{k}) == "" {
			out[k] = v
		}
	}
	return out
}
