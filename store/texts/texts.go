// Package texts visits every text in the contents of a process, and says which instance it belongs to. It keeps one
// value in memory at a time.
package texts

import (
	"encoding/json"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Place is the place of a text.
type Place struct {
	// InstanceToken is the token of the instance that the text belongs to; empty if it belongs to none, or to all.
	InstanceToken string
	// Path is the path to the text: its first three keys, joined by dots. Elements of lists are not distinguished.
	Path  string
	depth int
}

const maxPathDepth = 3

// Walker says what to do with the texts of a value.
type Walker struct {
	// Load returns the stored value of a handle; if it is nil, handles are skipped.
	Load func(jsonval.BlobHandle) (any, error)
	// OnText is called for every text and every key; OnNumber, if not nil, for every number.
	OnText, OnNumber func(Place, string)
}

// WalkValue walks a value at a place.
func (w Walker) WalkValue(v any, place Place) error {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		if w.Load == nil {
			return nil
		}
		stored, err := w.Load(h)
		if err != nil {
			return err
		}
		return w.WalkValue(stored, place)
	}
	switch v := v.(type) {
	case string:
		w.OnText(place, v)
	case json.Number:
		if w.OnNumber != nil {
			w.OnNumber(place, v.String())
		}
	case []any:
		for _, e := range v {
			if err := w.WalkValue(e, place); err != nil {
				return err
			}
		}
	case jsonval.Object:
		return w.walkObject(v, place)
	}
	return nil
}

func (w Walker) walkObject(m jsonval.Object, place Place) error {
	if instanceToken := instanceTokenOf(m); instanceToken != "" {
		place.InstanceToken = instanceToken
	}
	for k, v := range jsonval.Sorted(m) {
		child := place.child(k)
		w.OnText(child, k)
		if byInstance, ok := v.(jsonval.Object); ok && k == "instances" {
			for instanceToken, v := range jsonval.Sorted(byInstance) {
				child.InstanceToken = instanceToken
				if err := w.WalkValue(v, child); err != nil {
					return err
				}
			}
			continue
		}
		if err := w.WalkValue(v, child); err != nil {
			return err
		}
	}
	return nil
}

// instanceTokenOf returns the instance that an object names: a Message, a Call, an entry of a log, or a decision on a
// Call; empty if it names none.
func instanceTokenOf(m jsonval.Object) string {
	for _, k := range []string{"_instance", "instance"} {
		if instanceToken := jsonval.AsText(m[k]); instanceToken != "" && instanceToken != "*" {
			return instanceToken
		}
	}
	callID := jsonval.AsText(m["call"])
	if _, isCall := ideafile.ParseCallKey(callID); !isCall {
		return ""
	}
	return ideafile.InstanceTokenOfCallID(callID)
}

func (p Place) child(key string) Place {
	if p.depth++; p.depth <= maxPathDepth {
		p.Path = strings.TrimPrefix(p.Path+"."+key, ".")
	}
	return p
}

// Needle is a text to search for, ignoring case.
type Needle string

// NewNeedle returns the Needle of a text.
func NewNeedle(text string) Needle { return Needle(strings.ToLower(text)) }

// IsIn reports whether a text contains the needle.
func (n Needle) IsIn(text string) bool {
	return len(text) >= len(n) && strings.Contains(strings.ToLower(text), string(n))
}
