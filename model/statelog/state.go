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
	// Method is how Value is put there; empty is write-once.
	Method string `json:"method,omitempty"`
	Value  any    `json:"value"`
	By     string `json:"by"` // a Call's id, or a person
	// Request and Index are the author's place in the Plan.
	Request int       `json:"request"`
	Index   int       `json:"index"`
	At      time.Time `json:"at,omitzero"`
	// Correction orders what people set at one place in the Plan, behind what stood there; 0: no correction.
	Correction int `json:"correction,omitempty"`
	// Reason is why a person set it.
	Reason string `json:"reason,omitempty"`
}

func (w Write) before(request, index int) bool {
	return w.Request < request || w.Request == request && w.Index < index
}

// update says whether the write is a declared update, whose place in the Plan decides who sees it. A write of the whole
// State assigns top-level keys and is one too.
func (w Write) update() bool { return IsUpdate(w.Method, w.Path) }

func IsUpdate(method string, path jsonval.Path) bool { return method != "" || len(path) == 0 }

// State is the JSON object of one instance: what it started with, and every write since, kept as patches.
type State struct {
	Initial any
	writes  []Write // in Plan order
	Current any     // start with all writes
	// own says that nobody else has the object that now is: it may be written to. What stands in it is never changed.
	own bool
	// under holds the writes again, by the first step of their paths; nil where one writes the whole State, or nobody asks
	// often.
	under map[string][]Write
}

// NewState begins a State with what a process starts with.
func New(start any) *State {
	if start == nil {
		start = map[string]any{}
	}
	return &State{Initial: start, Current: start, under: map[string][]Write{}}
}

// resumeState is a State that was written to before.
func Resume(start any, writes []Write) *State {
	s := New(start)
	for _, w := range writes {
		s.remember(w)
	}
	s.writes = writes
	s.layAll()
	return s
}

// Value is the State with every write so far. No write changes it after it was given.
func (s *State) Value() any {
	s.own = false
	return s.Current
}

// Writes lists the writes so far in Plan order.
func (s *State) Writes() []Write { return s.writes }

// Apply adds a write. The result depends on the writes and their places in the Plan, not on when they came.
func (s *State) Apply(w Write) {
	var at int
	s.writes, at = insertWrite(s.writes, w)
	s.remember(w)
	if meets(s.writes[at+1:], w.Path) {
		s.layAll()
		return
	}
	s.lay(w)
}

// insertWrite puts a write at its place in the Plan, and gives that place.
func insertWrite(writes []Write, w Write) (with []Write, at int) {
	at = sort.Search(len(writes), func(i int) bool {
		o := writes[i]
		return !o.before(w.Request, w.Index) && (w.before(o.Request, o.Index) || o.Correction >= w.Correction)
	})
	return slices.Insert(writes, at, w), at
}

// remember makes a write to be found by its path.
func (s *State) remember(w Write) {
	switch {
	case len(w.Path) == 0:
		s.under = nil
	case s.under != nil:
		s.under[w.Path[0]], _ = insertWrite(s.under[w.Path[0]], w)
	}
}

// about lists, in Plan order, writes among which are all that have to do with a path.
func (s *State) about(p jsonval.Path) []Write {
	if len(p) == 0 || s.under == nil {
		return s.writes
	}
	return s.under[p[0]]
}

// holds says whether the State has a write already, by its author, its place in the Plan and its path.
func (s *State) Has(w Write) bool {
	return slices.ContainsFunc(s.about(w.Path), func(o Write) bool {
		return o.By == w.By && o.Request == w.Request && o.Index == w.Index && o.Correction == w.Correction && slices.Equal(o.Path, w.Path)
	})
}

// meets says whether one of the writes has to do with a path; where none has, it does not matter which is laid on first.
func meets(writes []Write, p jsonval.Path) bool {
	for _, w := range writes {
		if w.Path.Overlaps(p) {
			return true
		}
	}
	return false
}

// layAll lays the writes on what the State started with.
func (s *State) layAll() {
	s.Current, s.own = s.Initial, false
	for _, w := range s.writes {
		s.lay(w)
	}
}

// lay lays a write on all that were before. What is in the way is left as it is: whether a path may be written is decided
// before, and here nothing may be lost. Of a State's many keys all but one are left where they are: to copy them for each of
// a thousand writes would cost a million.
func (s *State) lay(w Write) {
	m, ok := s.Current.(map[string]any)
	switch {
	case len(w.Path) == 0:
		s.Current, s.own = combine(cmp.Or(w.Method, methodAssign), s.Current, w.Value), false
		return
	case !ok: // nothing fits below what is no object
		return
	case !s.own:
		m = maps.Clone(m)
		s.Current, s.own = m, true
	}
	old, _ := jsonval.Lookup(m, w.Path)
	if below, ok := jsonval.Put(m[w.Path[0]], w.Path[1:], combine(w.Method, old, w.Value)); ok {
		m[w.Path[0]] = below
	}
}

// near is the State at a path and around it as only some of the writes leave it. Elsewhere it says nothing: that makes
// it cheap.
func (s *State) near(p jsonval.Path, keep func(Write) bool) *State {
	all, writes := true, s.about(p)
	for _, w := range writes {
		all = all && (keep(w) || !w.Path.Overlaps(p))
	}
	if all {
		s.own = s.own && len(p) > 0 // else the whole of it is given away
		return s
	}
	part := &State{Initial: s.Initial}
	for _, w := range writes {
		if keep(w) && w.Path.Overlaps(p) {
			part.writes = append(part.writes, w)
		}
	}
	part.layAll()
	return part
}

// before is the State near a path as the writes before a place in the Plan leave it.
func (s *State) Before(request, index int, p jsonval.Path) *State {
	return s.near(p, func(w Write) bool { return w.before(request, index) })
}

// seenFrom is the State near a path with every write-once value, and the updates before a place in the Plan.
func (s *State) SeenFrom(request, index int, p jsonval.Path) *State {
	return s.near(p, func(w Write) bool { return !w.update() || w.before(request, index) })
}

// givingWay is a result for the whole State without the keys that a Call or a person wrote already, there or below: it
// may replace what the process started with, never that.
func (s *State) WithoutWritten(value any) any {
	out := map[string]any{}
	m, _ := value.(map[string]any)
	//workflowcheck:ignore -- a map again
	for k, v := range m {
		if WriterOf(s.about(jsonval.Path{k}), jsonval.Path{k}) == "" {
			out[k] = v
		}
	}
	return out
}

// combine is the value after an update.
func combine(method string, old, value any) any {
	switch method {
	case methodAssign:
		return jsonval.Overlay(old, value)
	case MethodMerge:
		return jsonval.Merge(old, value)
	case MethodPush:
		return appendTo(old, []any{value})
	case MethodConcat:
		return concat(old, value)
	}
	return value
}

func concat(old, value any) any {
	if a, ok := old.(string); ok {
		if b, ok := value.(string); ok {
			return a + b
		}
	}
	if list, ok := value.([]any); ok {
		return appendTo(old, list)
	}
	if old == nil {
		return value
	}
	return appendTo(old, []any{value})
}

// appendTo makes a list of what was there and what comes; a single value that was there is its first element.
func appendTo(old any, more []any) any {
	var list []any
	switch o := old.(type) {
	case nil:
	case []any:
		list = append(list, o...)
	default:
		list = append(list, o)
	}
	return append(list, more...)
}

// writerOf names who wrote a path, wrote below it, or wrote it as part of something whole; "" where nobody did.
func WriterOf(writes []Write, p jsonval.Path) string {
	for _, w := range writes {
		if len(w.Path) > 0 && w.Path.Overlaps(p) {
			return w.By
		}
		if m, ok := w.Value.(map[string]any); ok && len(w.Path) == 0 && len(p) > 0 {
			if _, ok := m[p[0]]; ok {
				return w.By
			}
		}
	}
	return ""
}

// Start is the author of what a process started with.
const Start = "start"

// Closed says whether a write-once path is closed, and who closed it: a value stands there or below, something other
// than an object stands above, or an ancestor was written whole.
func (s *State) Closed(p jsonval.Path) (by string, closed bool) {
	_, present := jsonval.Lookup(s.Current, p)
	if present || s.BlockedAbove(p) || s.WrittenAbove(p) {
		if by := WriterOf(s.about(p), p); by != "" {
			return by, true
		}
		return Start, true
	}
	return "", false
}

func (s *State) BlockedAbove(p jsonval.Path) bool {
	v := s.Current
	for _, step := range p {
		if _, handle := jsonval.AsHandle(v); handle {
			return true
		}
		m, ok := v.(map[string]any)
		if !ok {
			return true
		}
		if v, ok = m[step]; !ok {
			return false
		}
	}
	return false
}

func (s *State) WrittenAbove(p jsonval.Path) bool {
	for _, w := range s.about(p) {
		if !w.update() && p.Within(w.Path) {
			return true
		}
		if len(w.Path) == 0 && WriterOf([]Write{w}, p) != "" {
			return true
		}
	}
	return false
}
