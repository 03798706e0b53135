package model

import "fmt"

// Landing is what a result must fit before it lands: the State schema, and the path in it. Activities check large
// values against it, where they are whole; the instance checks the others.
type Landing struct {
	Schema any    `json:"schema,omitempty"`
	Path   Path   `json:"path"`
	Method string `json:"method,omitempty"`
}

// Landing gives what the result of a Call must fit; nil where nothing is said.
func (r *Run) Landing(rec *Record) *Landing {
	if rec.OutputPath == nil || r.schema == nil {
		return nil
	}
	return &Landing{Schema: r.schema, Path: *rec.OutputPath, Method: rec.Method}
}

// land writes a result into State, or keeps it on its record where the Call has no output path.
func (r *Run) land(rec *Record, value any) *Fault {
	if rec.OutputPath == nil {
		rec.Result = value
		return nil
	}
	w := Write{Path: *rec.OutputPath, Method: rec.Method, Value: value, By: rec.writer(), Request: rec.Request, Index: rec.Index, At: r.now}
	if _, stored := AsHandle(value); len(w.Path) == 0 && (stored || TypeOf(value) != "object") {
		return fault(CodeBadOutput, "the whole State takes an object, not %s", typeOfStored(value))
	}
	old, _ := Lookup(r.state.before(rec.Request, rec.Index, w.Path).now, w.Path)
	if f := canCombine(w.Method, old, value); f != nil {
		return f
	}
	if l := r.Landing(rec); l != nil && !HasHandle(value) && (w.Method == "" || !HasHandle(old)) {
		if err := l.Check(old, value); err != nil {
			return fault(CodeBadOutput, "%s", err)
		}
	}
	if len(w.Path) == 0 && w.Method == "" {
		w.Value = r.state.givingWay(w.Value)
	}
	r.state.Apply(w)
	r.fresh = append(r.fresh, w)
	return nil
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

// Check says how a value does not fit the State schema at its path; old is what stands there before an update. Of the
// whole State only what is written is looked at: the rest may be still to come.
func (l *Landing) Check(old, value any) error {
	if l == nil {
		return nil
	}
	after := combine(l.Method, old, value)
	if len(l.Path) > 0 {
		return checkPlace(l.Schema, l.Path, after)
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
		return fmt.Errorf("%s stands outside the closed State schema", Reference{TypeState, p})
	}
	if !at.known {
		return nil
	}
	s, err := compileAt(schema, at.pointer)
	if err != nil {
		return err
	}
	if err := s.Validate(value); err != nil {
		return fmt.Errorf("%s does not fit the State schema: %w", Reference{TypeState, p}, err)
	}
	return nil
}

// Missing lists the properties that the State schema requires and State does not have.
func (r *Run) Missing() []string { return MissingRequired(r.schema, r.state.Value()) }

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
