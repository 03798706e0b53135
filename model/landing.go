package model

import "fmt"

// Landing is what a result must fit before it lands: the State schema, and the paths in it. Activities check large
// values against it, where they are whole; the instance checks the others.
type Landing struct {
	Schema any        `json:"schema,omitempty"`
	Path   OutputPath `json:"path"`
	Method string     `json:"method,omitempty"`
}

// Landing gives what the result of a Call must fit, and which branches it may take; nil where nothing is said.
func (r *Run) Landing(rec *Record) *Landing {
	if len(rec.OutputPath) == 0 || r.schema == nil && !rec.OutputPath.branches() {
		return nil
	}
	return &Landing{Schema: r.schema, Path: rec.OutputPath, Method: rec.Method}
}

// Take reads a result that may say which branch it took, as said tells: {"_outputPath": "†state.failed", "_result": …}.
func (l *Landing) Take(value any) (branch int, result any, said bool, err error) {
	if l == nil {
		return 0, value, false, nil
	}
	return l.Path.take(value)
}

// Say is Take the other way round.
func (l *Landing) Say(branch int, result any) any {
	return map[string]any{branchKey: OutputPath{l.Path[branch]}.Reference(), resultKey: result}
}

// Check says how a write-once result does not fit the State schema at the paths of a branch.
func (l *Landing) Check(branch int, value any) error {
	if l == nil || l.Method != "" {
		return nil
	}
	for _, p := range l.Path[branch] {
		if err := l.check(p, nil, value); err != nil {
			return err
		}
	}
	return nil
}

// land writes a result into State at the paths of the branch it takes, or keeps it on its record where the Call has no
// output path. It is written everywhere or nowhere; where one of several paths is closed, at the others.
func (r *Run) land(rec *Record, value any) *Fault {
	handed, f := r.handed(rec)
	if f != nil {
		return f
	}
	if len(rec.OutputPath) == 0 {
		rec.Result = value
		r.putHanded(handed)
		return nil
	}
	var writes []Write
	for _, p := range rec.OutputPath[max(rec.Taken, 1)-1] {
		if _, closed := r.state.Closed(p); closed && len(rec.OutputPath.Paths()) > 1 && !rec.update() {
			continue
		}
		w, f := r.writeOf(rec, p, value)
		if f != nil {
			return f
		}
		writes = append(writes, w)
	}
	for _, w := range writes {
		r.state.Apply(w)
		r.fresh = append(r.fresh, w)
	}
	r.putHanded(handed)
	return nil
}

// writeOf is what a result changes at one path, or why it cannot.
func (r *Run) writeOf(rec *Record, p Path, value any) (Write, *Fault) {
	w := Write{Path: p, Method: rec.Method, Value: value, By: rec.writer(), Request: rec.Request, Index: rec.Index, At: r.now}
	if _, stored := AsHandle(value); len(p) == 0 && (stored || TypeOf(value) != "object") {
		return w, fault(CodeBadOutput, "the whole State takes an object, not %s", typeOfStored(value))
	}
	old, _ := Lookup(r.state.before(rec.Request, rec.Index, p).now, p)
	if f := canCombine(w.Method, old, value); f != nil {
		return w, f
	}
	if l := r.Landing(rec); l != nil && !HasHandle(value) && (w.Method == "" || !HasHandle(old)) {
		if err := l.check(p, old, value); err != nil {
			return w, fault(CodeBadOutput, "%s", err)
		}
	}
	if len(p) == 0 && w.Method == "" {
		w.Value = r.state.givingWay(w.Value)
	}
	return w, nil
}

// canCombine refuses updates that would have to look into a stored value.
func canCombine(method string, old, value any) *Fault {
	_, storedOld := AsHandle(old)
	_, storedNew := AsHandle(value)
	if method != "" && (storedOld || storedNew && old != nil && method != methodPush) {
		return fault(CodeBadOutput, "%s", notYet("updates of values over 64 KB"))
	}
	o, _ := old.(map[string]any)
	v, _ := value.(map[string]any)
	for _, k := range sortedKeys(v) {
		if below, ok := o[k]; ok && method == methodMerge {
			if f := canCombine(method, below, v[k]); f != nil {
				return f
			}
		}
	}
	return nil
}

// typeOfStored is TypeOf that tells a stored value apart.
func typeOfStored(v any) string {
	if h, ok := AsHandle(v); ok {
		return fmt.Sprintf("one %s of %d bytes that is stored as a whole", h.Type, h.Size)
	}
	return TypeOf(v)
}

// check says how a value does not fit the State schema at a path; old is what stands there before an update. Of the whole
// State only what is written is looked at: the rest may be still to come.
func (l *Landing) check(p Path, old, value any) error {
	if l.Schema == nil {
		return nil
	}
	after := combine(l.Method, old, value)
	if len(p) > 0 {
		return checkPlace(l.Schema, p, after)
	}
	m, _ := value.(map[string]any)
	for _, k := range sortedKeys(m) {
		v, _ := stepInto(after, k)
		if err := checkPlace(l.Schema, Path{k}, v); err != nil {
			return err
		}
	}
	return nil
}

func checkPlace(schema any, p Path, value any) error {
	at := placeOf(schema, p)
	if at.closed {
		return fmt.Errorf("%s stands outside the closed State schema", Reference{stateKind, p})
	}
	if !at.known {
		return nil
	}
	s, err := compileAt(schema, at.pointer)
	if err != nil {
		return err
	}
	if err := s.Validate(value); err != nil {
		return fmt.Errorf("%s does not fit the State schema: %w", Reference{stateKind, p}, err)
	}
	return nil
}

// Missing lists the properties that the State schema requires and State does not have.
func (r *Run) Missing() []string { return MissingRequired(r.schema, r.state.now) }

// MissingRequired lists the paths that a State schema requires and a State does not have.
func MissingRequired(schema, state any) []string {
	return missing(schema, schema, state, nil)
}

func missing(root, node, value any, at Path) []string {
	node, _ = follow(root, node, "")
	m, ok := node.(map[string]any)
	object, isObject := value.(map[string]any)
	if _, handle := AsHandle(value); !ok || !isObject || handle {
		return nil
	}
	var out []string
	required, _ := stringList(m["required"])
	for _, name := range required {
		if _, ok := object[name]; !ok {
			out = append(out, append(append(Path{}, at...), name).String())
		}
	}
	props, _ := m["properties"].(map[string]any)
	for _, name := range sortedKeys(props) {
		if below, ok := object[name]; ok {
			out = append(out, missing(root, props[name], below, append(append(Path{}, at...), name))...)
		}
	}
	return out
}
