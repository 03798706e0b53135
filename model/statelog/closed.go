package statelog

import (
	"cmp"
	"fmt"

	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// FirstAuthorAt gives the author of the first write at a path, above it or below it; "" if there is none. A write of
// the whole State counts only for the keys of its value.
func FirstAuthorAt(writes []Write, p jsonval.Path) string {
	for _, w := range writes {
		if len(w.Path) > 0 && w.Path.Overlaps(p) {
			return w.Author
		}
		if m, ok := w.Value.(jsonval.Object); ok && len(w.Path) == 0 && len(p) > 0 {
			if _, ok := m[p[0]]; ok {
				return w.Author
			}
		}
	}
	return ""
}

// InitialStateAuthor is the author of what an instance started with.
const InitialStateAuthor = "start"

// AuthorWhoClosedPath reports whether no Call may write a path any more, and who closed it. A path is closed if it has
// a value, if something other than an object is above it, or if it or an ancestor was written whole.
func (s *State) AuthorWhoClosedPath(p jsonval.Path) (author string, isClosed bool) {
	_, hasValue := jsonval.ValueAt(s.CurrentValue, p)
	if hasValue || s.HasNonObjectAncestor(p) || s.IsWrittenWhole(p) {
		return cmp.Or(FirstAuthorAt(s.writesThatMayOverlap(p), p), InitialStateAuthor), true
	}
	return "", false
}

// HasNonObjectAncestor reports whether something other than an object is above a path. A BlobHandle is no object: its
// value is in the blob store.
func (s *State) HasNonObjectAncestor(p jsonval.Path) bool { return s.BlockingAncestorReason(p) != "" }

// BlockingAncestorReason says, for people and the LLM, why no value can be set at a path: something other than an
// object is above it, or the value above is stored as a whole. It returns "" if a value can be set.
func (s *State) BlockingAncestorReason(p jsonval.Path) string {
	v := s.CurrentValue
	for n, step := range p {
		if h, isBlob := jsonval.AsBlobHandle(v); isBlob && h.ValueType == "object" {
			ancestor := refexpr.Reference{Kind: "state", Path: p[:n]}
			return fmt.Sprintf(
				"%s has more than %d KB and is stored as a whole, so that nothing can be put inside it: "+
					"change %s itself, with the output method merge", ancestor, jsonval.LargeValueBytes>>10, ancestor)
		}
		m, ok := v.(jsonval.Object)
		if _, isBlob := jsonval.AsBlobHandle(v); !ok || isBlob {
			return "something other than an object stands above it"
		}
		if v, ok = m[step]; !ok {
			return ""
		}
	}
	return ""
}

// IsWrittenWhole reports whether a path, or an ancestor of it, was written whole: by a write that is no update, or as a
// key of a write of the whole State.
func (s *State) IsWrittenWhole(p jsonval.Path) bool {
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
