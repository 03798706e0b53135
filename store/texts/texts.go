// Package texts reads every text in what a process worked on, and tells whose it is. It holds one value at a time.
package texts

import (
	"encoding/json"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Place is the place of a text.
type Place struct {
	// Instance is the token of the instance that it belongs to; empty: of none, or of all.
	Instance string
	// Part is the path to it: its first three keys, joined by dots. Elements of lists are not distinguished.
	Part  string
	depth int
}

const maxPartDepth = 3

// Walk says what is done with the texts of a value.
type Walk struct {
	// Load returns the stored value of a handle; if it is nil, handles are skipped.
	Load func(jsonval.BlobHandle) (any, error)
	// OnText is called for every text and every key; Number for every number, where it is not nil.
	OnText, OnNumber func(Place, string)
}

// Each walks a value at a place.
func (w Walk) Each(v any, at Place) error {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		if w.Load == nil {
			return nil
		}
		inside, err := w.Load(h)
		if err != nil {
			return err
		}
		return w.Each(inside, at)
	}
	switch v := v.(type) {
	case string:
		w.OnText(at, v)
	case json.Number:
		if w.OnNumber != nil {
			w.OnNumber(at, v.String())
		}
	case []any:
		for _, e := range v {
			if err := w.Each(e, at); err != nil {
				return err
			}
		}
	case jsonval.Object:
		return w.walkObject(v, at)
	}
	return nil
}

func (w Walk) walkObject(m jsonval.Object, at Place) error {
	if token := ownerToken(m); token != "" {
		at.Instance = token
	}
	for k, v := range jsonval.Sorted(m) {
		below := at.atKey(k)
		w.OnText(below, k)
		if each, ok := v.(jsonval.Object); ok && k == "instances" {
			for token, v := range jsonval.Sorted(each) {
				below.Instance = token
				if err := w.Each(v, below); err != nil {
					return err
				}
			}
			continue
		}
		if err := w.Each(v, below); err != nil {
			return err
		}
	}
	return nil
}

// ownerToken is the instance that an object says it is about: a Message or a Call, an entry of a log, a decision on a
// Call.
func ownerToken(m jsonval.Object) string {
	for _, k := range []string{"_instance", "instance"} {
		if token := jsonval.AsText(m[k]); token != "" && token != "*" {
			return token
		}
	}
	call := jsonval.AsText(m["call"])
	if _, isCall := ideafile.ParseCallKey(call); !isCall {
		return ""
	}
	return ideafile.InstanceTokenOfCallID(call)
}

func (p Place) atKey(key string) Place {
	if p.depth++; p.depth <= maxPartDepth {
		p.Part = strings.TrimPrefix(p.Part+"."+key, ".")
	}
	return p
}

// Needle is a text that is looked for, in whatever case.
type Needle string

// NewNeedle makes one.
func NewNeedle(text string) Needle { return Needle(strings.ToLower(text)) }

// IsIn reports whether a text has it.
func (n Needle) IsIn(text string) bool {
	return len(text) >= len(n) && strings.Contains(strings.ToLower(text), string(n))
}
