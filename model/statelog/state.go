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
	// OutputMethod is how Value changes the existing value; empty: write-once.
	OutputMethod string `json:"method,omitempty"`
	Value        any    `json:"value"`
	// CombinedValue is the value at Path after the write, if computing it needed the content of a value in the blob
	// store (NeedsBlobContent); for a write of the whole State, only the keys of Value. Otherwise it is nil, since it
	// follows from Value.
	CombinedValue any    `json:"combined,omitempty"`
	Author        string `json:"by"` // a Call's id, or a person's name
	// Request and Index are the author's place in the Plan.
	Request   int       `json:"request"`
	Index     int       `json:"index"`
	WrittenAt time.Time `json:"at,omitzero"`
	// CorrectionNumber orders the values that people set at one place in the Plan, after what the Call wrote there; 0
	// is no correction.
	CorrectionNumber int `json:"correction,omitempty"`
	// Reason is why a person set the value.
	Reason string `json:"reason,omitempty"`
}

// precedesCall reports whether the write precedes a place in the Plan.
func (w Write) precedesCall(requestNumber, callIndex int) bool {
	return w.Request < requestNumber || (w.Request == requestNumber && w.Index < callIndex)
}

// isUpdate reports whether the write is an update. Only Calls after an update in the Plan see it.
func (w Write) isUpdate() bool { return IsUpdateWrite(w.OutputMethod, w.Path) }

// IsUpdateWrite reports whether a write with a method at a path is an update. A write of the whole State is an update,
// as it assigns top-level keys.
func IsUpdateWrite(method string, path jsonval.Path) bool { return method != "" || len(path) == 0 }

// State is the JSON object of one instance: its initial value, and every write since, kept as patches.
type State struct {
	// InitialValue is the value that the instance started with.
	InitialValue any
	// CurrentValue is InitialValue with all writes. The next write may change its top-level keys; Snapshot returns a
	// value that does not change.
	CurrentValue any
	writes       []Write // in Plan order
	// ownsCurrentValue is true if nothing else refers to the object CurrentValue, so that a write may set its keys. The
	// values of the keys are shared and never changed.
	ownsCurrentValue bool
	// writesByFirstStep indexes the writes by the first step of their paths. It is nil if one of them writes the whole
	// State, and in the partial States of withFilteredWrites.
	writesByFirstStep map[string][]Write
}

// NewState begins a State with what an instance starts with; nil is an empty object.
func NewState(initialValue any) *State {
	if initialValue == nil {
		initialValue = jsonval.Object{}
	}
	return &State{InitialValue: initialValue, CurrentValue: initialValue, writesByFirstStep: map[string][]Write{}}
}

// RestoreState restores a State from the result of Writes.
func RestoreState(initialValue any, writes []Write) *State {
	s := NewState(initialValue)
	for _, w := range writes {
		s.addToIndex(w)
	}
	s.writes = writes
	s.rebuildFromWrites()
	return s
}

// Snapshot returns the State with every write so far. No later write changes the returned value.
func (s *State) Snapshot() any {
	s.ownsCurrentValue = false
	return s.CurrentValue
}

// Writes lists the writes so far, in Plan order.
func (s *State) Writes() []Write { return s.writes }

// Apply adds a write at its place in the Plan, or takes one back (MethodWithdraw). If a later write overlaps a new one,
// all writes are applied again.
func (s *State) Apply(w Write) {
	if w.OutputMethod == MethodWithdraw {
		*s = *RestoreState(s.InitialValue, slices.DeleteFunc(slices.Clone(s.writes), w.Withdraws))
		return
	}
	var index int
	s.writes, index = insertWrite(s.writes, w)
	s.addToIndex(w)
	// if no later write overlaps it, the order of applying them does not matter
	if slices.ContainsFunc(s.writes[index+1:], func(o Write) bool { return o.Path.Overlaps(w.Path) }) {
		s.rebuildFromWrites()
		return
	}
	s.applyAsLast(w)
}

// insertWrite inserts a write at its place in Plan order, and gives the index.
func insertWrite(writes []Write, w Write) (newWrites []Write, index int) {
	index = sort.Search(len(writes), func(i int) bool {
		o := writes[i]
		return !o.precedesCall(w.Request, w.Index) &&
			(w.precedesCall(o.Request, o.Index) || o.CorrectionNumber >= w.CorrectionNumber)
	})
	return slices.Insert(writes, index, w), index
}

// addToIndex adds a write to writesByFirstStep.
func (s *State) addToIndex(w Write) {
	switch {
	case len(w.Path) == 0:
		s.writesByFirstStep = nil
	case s.writesByFirstStep != nil:
		s.writesByFirstStep[w.Path[0]], _ = insertWrite(s.writesByFirstStep[w.Path[0]], w)
	}
}

// writesThatMayOverlap lists, in Plan order, at least all writes that overlap a path.
func (s *State) writesThatMayOverlap(p jsonval.Path) []Write {
	if len(p) == 0 || s.writesByFirstStep == nil {
		return s.writes
	}
	return s.writesByFirstStep[p[0]]
}

// HasWrite reports whether the State has a write already, by author, place in the Plan and path. For a write that takes
// another back, it reports whether the other is gone.
func (s *State) HasWrite(w Write) bool {
	if w.OutputMethod == MethodWithdraw {
		return !slices.ContainsFunc(s.writes, w.Withdraws)
	}
	return slices.ContainsFunc(s.writesThatMayOverlap(w.Path), func(o Write) bool {
		return o.Author == w.Author && o.Request == w.Request && o.Index == w.Index &&
			o.CorrectionNumber == w.CorrectionNumber && slices.Equal(o.Path, w.Path)
	})
}

// rebuildFromWrites applies all writes to InitialValue.
func (s *State) rebuildFromWrites() {
	s.CurrentValue, s.ownsCurrentValue = s.InitialValue, false
	for _, w := range s.writes {
		s.applyAsLast(w)
	}
}

// applyAsLast applies a write after all others. If something other than an object is above its path, nothing changes.
// An object that the State owns is changed in place: to copy a thousand keys for each of a thousand writes would cost a
// million.
func (s *State) applyAsLast(w Write) {
	m, ok := s.CurrentValue.(jsonval.Object)
	if w.CombinedValue != nil {
		w.OutputMethod, w.Value = "", w.CombinedValue
	}
	switch {
	case len(w.Path) == 0:
		s.CurrentValue, s.ownsCurrentValue = combineByMethod(cmp.Or(w.OutputMethod, methodAssign), s.CurrentValue,
			w.Value), false
		return
	case !ok: // there is no path below a value that is no object
		return
	case !s.ownsCurrentValue:
		m = maps.Clone(m)
		s.CurrentValue, s.ownsCurrentValue = m, true
	}
	oldValue, _ := jsonval.ValueAt(m, w.Path)
	if newChild, ok := jsonval.SetAt(m[w.Path[0]], w.Path[1:], combineByMethod(w.OutputMethod, oldValue, w.Value)); ok {
		m[w.Path[0]] = newChild
	}
}

// withFilteredWrites gives the State with only the writes that keep accepts. It is right only at, above and below the
// path p, which makes it cheap.
func (s *State) withFilteredWrites(p jsonval.Path, keep func(Write) bool) *State {
	writes := s.writesThatMayOverlap(p)
	isDropped := func(w Write) bool { return w.Path.Overlaps(p) && !keep(w) }
	if !slices.ContainsFunc(writes, isDropped) {
		s.ownsCurrentValue = s.ownsCurrentValue && len(p) > 0 // a caller that reads the whole may keep it
		return s
	}
	partialState := &State{InitialValue: s.InitialValue}
	for _, w := range writes {
		if keep(w) && w.Path.Overlaps(p) {
			partialState.writes = append(partialState.writes, w)
		}
	}
	partialState.rebuildFromWrites()
	return partialState
}

// StateBeforeCall gives the State with the writes before a place in the Plan. It is right only at, above and below the
// path p.
func (s *State) StateBeforeCall(requestNumber, callIndex int, p jsonval.Path) *State {
	return s.withFilteredWrites(p, func(w Write) bool { return w.precedesCall(requestNumber, callIndex) })
}

// ValuesBeforeCall returns parts of the State before a place in the Plan: at the given paths the values written before
// it, and elsewhere the initial ones.
func (s *State) ValuesBeforeCall(requestNumber, callIndex int, paths []jsonval.Path) any {
	value := s.InitialValue
	for _, p := range paths {
		if part, ok := jsonval.ValueAt(s.StateBeforeCall(requestNumber, callIndex, p).CurrentValue, p); ok {
			if updated, ok := jsonval.SetAt(value, p, part); ok {
				value = updated
			}
		}
	}
	return value
}

// StateSeenByCall gives the State as a Call at a place in the Plan sees it: with every write-once value, and with the
// updates before that place. It is right only at, above and below the path p.
func (s *State) StateSeenByCall(requestNumber, callIndex int, p jsonval.Path) *State {
	return s.withFilteredWrites(p, func(w Write) bool {
		return !w.isUpdate() ||
			w.precedesCall(requestNumber, callIndex)
	})
}

// WithoutWrittenKeys returns a result for the whole State without the keys that a Call or a person wrote, at the key or
// below. Such a result may replace initial values, but no written ones.
func (s *State) WithoutWrittenKeys(value any) any {
	out := jsonval.Object{}
	m := jsonval.AsObject(value)
	//workflowcheck:ignore -- each key by itself, in any order
	for k, v := range m {
		if FirstAuthorAt(s.writesThatMayOverlap(jsonval.Path{k}), jsonval.Path{k}) == "" {
			out[k] = v
		}
	}
	return out
}

// SplitPatch splits a patch into one Write for each value that it sets, in the order of their paths. An empty object
// below the top and a BlobHandle are values.
func SplitPatch(patch any, parent jsonval.Path) []Write {
	m, ok := patch.(jsonval.Object)
	_, isBlob := jsonval.AsBlobHandle(patch)
	if !ok || isBlob || (len(m) == 0 && len(parent) > 0) {
		return []Write{{Path: parent, Value: patch}}
	}
	var list []Write
	for k, v := range jsonval.Sorted(m) {
		list = append(list, SplitPatch(v, parent.WithStep(k))...)
	}
	return list
}

// ContributingWriteIndexes lists the indexes of the writes that made the value at a path: writes that changed it, and
// those with which a person set it. The writes are in Plan order, and initialValue is the State before them. finalValue
// is the value at the path after all writes, if there is one.
func ContributingWriteIndexes(initialValue any, writes []Write,
	p jsonval.Path) (indexes []int, finalValue any, exists bool) {
	s := NewState(initialValue)
	finalValue, exists = jsonval.ValueAt(s.Snapshot(), p)
	for n, w := range writes {
		if !w.Path.Overlaps(p) {
			continue
		}
		s.Apply(w)
		newValue, existsNow := jsonval.ValueAt(s.Snapshot(), p)
		if existsNow != exists || !jsonval.Equal(finalValue, newValue) ||
			(w.CorrectionNumber > 0 && p.IsAtOrBelow(w.Path)) {
			indexes = append(indexes, n)
		}
		finalValue, exists = newValue, existsNow
	}
	return indexes, finalValue, exists
}
