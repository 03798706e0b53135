package statelog

import "processidea/model/jsonval"

// WriterOf gives the author of the first write at a path, below it or of something that holds it; "" if there is none.
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

// Start is the author of what an instance started with.
const Start = "start"

// Closed reports whether no Call may write a path any more, and by whom it was closed: a value stands there or below,
// something other than an object stands above, or an ancestor was written whole.
func (s *State) Closed(p jsonval.Path) (by string, closed bool) {
	_, present := jsonval.Lookup(s.Current, p)
	if present || s.BlockedAbove(p) || s.WrittenAbove(p) {
		if by := WriterOf(s.writesThatMayOverlap(p), p); by != "" {
			return by, true
		}
		return Start, true
	}
	return "", false
}

// BlockedAbove reports whether something other than an object stands above a path. A Handle is no object: what it stands for
// lies in the blob store.
func (s *State) BlockedAbove(p jsonval.Path) bool {
	v := s.Current
	for _, step := range p {
		if _, stored := jsonval.AsHandle(v); stored {
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

// WrittenAbove reports whether a path, or something that holds it, was written whole.
func (s *State) WrittenAbove(p jsonval.Path) bool {
	for _, w := range s.writesThatMayOverlap(p) {
		if !w.isUpdate() && p.Within(w.Path) {
			return true
		}
		if len(w.Path) == 0 && WriterOf([]Write{w}, p) != "" {
			return true
		}
	}
	return false
}
