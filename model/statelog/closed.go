package statelog

import "processidea/model/jsonval"

// FirstAuthorAt gives the author of the first write at a path, below it or of something that holds it; "" if there is none.
func FirstAuthorAt(writes []Write, p jsonval.Path) string {
	for _, w := range writes {
		if len(w.Path) > 0 && w.Path.Overlaps(p) {
			return w.Author
		}
		if m, ok := w.Value.(map[string]any); ok && len(w.Path) == 0 && len(p) > 0 {
			if _, ok := m[p[0]]; ok {
				return w.Author
			}
		}
	}
	return ""
}

// Start is the author of what an instance started with.
const Start = "start"

// PathClosedBy reports whether no Call may write a path any more, and by whom it was closed: a value stands there or below,
// something other than an object stands above, or an ancestor was written whole.
func (s *State) PathClosedBy(p jsonval.Path) (by string, closed bool) {
	_, present := jsonval.ValueAt(s.CurrentValue, p)
	if present || s.AncestorIsNoObject(p) || s.AncestorWrittenWhole(p) {
		if by := FirstAuthorAt(s.writesThatMayOverlap(p), p); by != "" {
			return by, true
		}
		return Start, true
	}
	return "", false
}

// AncestorIsNoObject reports whether something other than an object stands above a path. A Handle is no object: what it stands for
// lies in the blob store.
func (s *State) AncestorIsNoObject(p jsonval.Path) bool {
	v := s.CurrentValue
	for _, step := range p {
		if _, stored := jsonval.AsBlobHandle(v); stored {
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

// AncestorWrittenWhole reports whether a path, or something that holds it, was written whole.
func (s *State) AncestorWrittenWhole(p jsonval.Path) bool {
	for _, w := range s.writesThatMayOverlap(p) {
		if !w.isUpdate() && p.IsAtOrBelow(w.Path) {
			return true
		}
		if len(w.Path) == 0 && FirstAuthorAt([]Write{w}, p) != "" {
			return true
		}
	}
	return false
}
