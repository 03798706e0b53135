package form

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"processidea/client/ideafiles"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// Suffixes of a control's name for its accompanying controls. In a JSON pointer, only 0 or 1 follows a tilde.
const (
	kindSuffix     = "~kind"
	presenceSuffix = "~state"
	wasSuffix      = "~was" // the state that was shown
	removedSuffix  = "~gone"
	keySuffix      = "~key"
	moreSuffix     = "~more"
	countSuffix    = "~count"
)

// AddMark is the name of the buttons that add an item to a list. The value of a button is the list's name.
const AddMark = "~add"

// reader reads a sent form.
type reader struct {
	amounts
	root   any // the schema
	values url.Values
	fixed  []string
	errors map[string]string
}

// Read returns the entered value; shown is the value for which the form was made. errors has the errors by the names of
// fields; it is empty if there are none.
func (f Form) Read(shown any, values url.Values) (value any, errors map[string]string) {
	r := &reader{amounts: f.amounts(), root: f.Schema, values: values, fixed: f.Fixed, errors: map[string]string{}}
	value, _ = r.read(place{name: f.Prefix, node: f.Schema}, shown, true)
	return value, r.errors
}

// IsAdding reports whether the sent form only asks for one more item of a list.
func IsAdding(values url.Values) bool { return values.Get(AddMark) != "" }

// read returns the value of the field at a place; has is false if the value is omitted. What somebody entered must fit
// the schema; what was there before stays as it is.
func (r *reader) read(p place, shown any, wasThere bool) (value any, has bool) {
	name := p.name
	kind, state := Kind(r.values.Get(name+kindSuffix)), r.values.Get(name+presenceSuffix)
	if p.depth > 4*maxDepth {
		r.errors[name] = "it is too deep for a form"
		return nil, false
	}
	switch {
	case kind == Fixed || kind == "":
		return shown, wasThere
	case state == StateNull && !r.isTouched(name, kind):
		return nil, true
	case state == StateOmitted && !r.isTouched(name, kind):
		return nil, false
	}
	node := describe(r.root, p.node, p.pointer)
	switch kind {
	case Object:
		return r.readObject(p, node, shown), true
	case List:
		value, has = r.readList(p, node, shown), true
	default:
		value, has = r.readControl(name, kind, shown)
	}
	if r.errors[name] == "" && !(wasThere && jsonval.Equal(value, shown)) {
		if why := r.misfit(node, name, value); why != "" {
			r.errors[name] = why
		}
	}
	return value, has
}

// isTouched reports whether somebody entered a value in a field marked as absent: they forgot to change the mark.
func (r *reader) isTouched(name string, kind Kind) bool {
	if r.values.Get(name+presenceSuffix) != r.values.Get(name+wasSuffix) {
		return false
	}
	switch kind {
	case Object, List:
		if r.values.Get(name+moreSuffix) != "" {
			return true
		}
		for key, sent := range r.values {
			below, is := strings.CutPrefix(key, name+"/")
			if is && !isMark(below) && sent[0] != "" && r.values.Get(key+kindSuffix) != string(Fixed) {
				return true
			}
		}
		return false
	}
	return r.values.Get(name) != ""
}

func isMark(name string) bool {
	at := strings.LastIndex(name, "~")
	marks := []string{kindSuffix, presenceSuffix, wasSuffix, removedSuffix, keySuffix, countSuffix}
	return at >= 0 && slices.Contains(marks, name[at:])
}

func (r *reader) readControl(name string, kind Kind, shown any) (value any, has bool) {
	text := strings.ReplaceAll(r.values.Get(name), "\r\n", "\n")
	if before, ok := shown.(string); ok && (kind == Text || kind == Long) && before == text {
		return shown, true
	}
	switch kind {
	case Text, Long:
		return text, true
	case Number:
		if format, isAmount := r.at(name); isAmount {
			n, problem := r.amounts.read(format, text, shown)
			if problem != "" {
				r.errors[name] = problem
			}
			return n, true
		}
		v, err := jsonval.Decode([]byte(strings.TrimSpace(text)))
		n, ok := v.(json.Number)
		if err != nil || !ok {
			r.errors[name] = "this is not a number: write it with digits and a point, such as 12.50"
			return nil, true
		}
		return n, true
	case Choice, JSON:
		if strings.TrimSpace(text) == "" {
			r.errors[name] = "choose a value"
			if kind == JSON {
				r.errors[name] = "this is empty: write a text in quotes, or null for no value"
			}
			return nil, true
		}
		v, err := jsonval.Decode([]byte(text))
		if err != nil {
			r.errors[name] = "this is not JSON: " + ideafiles.DecodeCause(err)
		}
		return v, true
	}
	r.errors[name] = fmt.Sprintf("the form has no control of kind %q", kind)
	return nil, true
}

func (r *reader) readObject(p place, node node, shown any) jsonval.Object {
	name := p.name
	before, _ := shown.(jsonval.Object)
	out := jsonval.Object{}
	for _, key := range r.values[name+keySuffix] {
		v, was := before[key]
		if p.depth == 0 && slices.Contains(r.fixed, key) {
			if was {
				out[key] = v
			}
			continue
		}
		at := place{name: name + "/" + jsonschema.EscapePointerStep(key), depth: p.depth + 1}
		at.node, at.pointer = node.member(key)
		if v, has := r.read(at, v, was); has {
			out[key] = v
		}
	}
	more := strings.TrimSpace(r.values.Get(name + moreSuffix))
	if more == "" {
		return out
	}
	others, err := jsonval.DecodeObject([]byte(more))
	if err != nil {
		r.errors[name+moreSuffix] = `want a JSON object, such as {"note": "fragile"}: ` + ideafiles.DecodeCause(err)
	}
	for key, v := range others {
		if _, is := out[key]; is {
			r.errors[name+moreSuffix] = fmt.Sprintf("%q has a field of its own", key)
		}
		out[key] = v
	}
	return out
}

func (r *reader) readList(p place, node node, shown any) []any {
	name := p.name
	before, _ := shown.([]any)
	out := []any{}
	for n := range min(submittedItemCount(r.values, name), maxList) {
		item := place{name: name + "/" + strconv.Itoa(n), node: node.items, pointer: node.pointer + "/items",
			depth: p.depth + 1}
		if r.values.Get(item.name+removedSuffix) != "" {
			continue
		}
		var v any
		if n < len(before) {
			v = before[n]
		}
		v, _ = r.read(item, v, n < len(before))
		out = append(out, v)
	}
	return out
}

func submittedItemCount(values url.Values, name string) int {
	n, err := strconv.Atoi(values.Get(name + countSuffix))
	if err != nil {
		return 0
	}
	return max(n, 0)
}
