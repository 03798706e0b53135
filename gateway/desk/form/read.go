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
	kindSuffix          = "~kind"
	presenceSuffix      = "~state"
	shownPresenceSuffix = "~was" // the state that was shown
	removedSuffix       = "~gone"
	keySuffix           = "~key"
	otherMembersSuffix  = "~more"
	countSuffix         = "~count"
)

// AddItemButtonName is the name of the buttons that add an item to a list. The value of a button is the list's name.
const AddItemButtonName = "~add"

// reader reads a sent form.
type reader struct {
	fieldFormatter
	rootSchema  any // the schema
	values      url.Values
	fixedKeys   []string
	errorByName map[string]string
}

// Read returns the entered value; shownValue is the value for which the form was made. errorByName has the errors by
// the names of fields; it is empty if there are none.
func (f Form) Read(shownValue any, values url.Values) (value any, errorByName map[string]string) {
	r := &reader{fieldFormatter: f.fieldFormatter(), rootSchema: f.Schema, values: values, fixedKeys: f.FixedKeys,
		errorByName: map[string]string{}}
	value, _ = r.read(position{name: f.Prefix, schemaNode: f.Schema}, shownValue, true)
	return value, r.errorByName
}

// IsAddItemRequest reports whether the sent form only asks for one more item of a list.
func IsAddItemRequest(values url.Values) bool { return values.Get(AddItemButtonName) != "" }

// read returns the value of the field at a place; hasValue is false if the value is omitted. What somebody entered must
// fit the schema; what was there before stays as it is.
func (r *reader) read(p position, shownValue any, wasPresent bool) (value any, hasValue bool) {
	name := p.name
	kind, presence := Kind(r.values.Get(name+kindSuffix)), r.values.Get(name+presenceSuffix)
	if p.depth > 4*maxDepth {
		r.errorByName[name] = "it is too deep for a form"
		return nil, false
	}
	switch {
	case kind == Fixed || kind == "":
		return shownValue, wasPresent
	case presence == PresenceNull && !r.isTouched(name, kind):
		return nil, true
	case presence == PresenceOmitted && !r.isTouched(name, kind):
		return nil, false
	}
	node := describeNode(r.rootSchema, p.schemaNode, p.pointer)
	switch kind {
	case Object:
		return r.readObject(p, node, shownValue), true
	case List:
		value, hasValue = r.readList(p, node, shownValue), true
	default:
		value, hasValue = r.readControl(name, kind, shownValue)
	}
	if r.errorByName[name] == "" && !(wasPresent && jsonval.Equal(value, shownValue)) {
		if problem := r.violationText(node, name, value); problem != "" {
			r.errorByName[name] = problem
		}
	}
	return value, hasValue
}

// isTouched reports whether somebody entered a value in a field marked as absent: they forgot to change the mark.
func (r *reader) isTouched(name string, kind Kind) bool {
	if r.values.Get(name+presenceSuffix) != r.values.Get(name+shownPresenceSuffix) {
		return false
	}
	switch kind {
	case Object, List:
		if r.values.Get(name+otherMembersSuffix) != "" {
			return true
		}
		for key, sent := range r.values {
			member, isMember := strings.CutPrefix(key, name+"/")
			if isMember && !isHelperControl(member) && sent[0] != "" && r.values.Get(key+kindSuffix) != string(Fixed) {
				return true
			}
		}
		return false
	}
	return r.values.Get(name) != ""
}

func isHelperControl(name string) bool {
	tildeIndex := strings.LastIndex(name, "~")
	suffixes := []string{kindSuffix, presenceSuffix, shownPresenceSuffix, removedSuffix, keySuffix, countSuffix}
	return tildeIndex >= 0 && slices.Contains(suffixes, name[tildeIndex:])
}

func (r *reader) readControl(name string, kind Kind, shownValue any) (value any, hasValue bool) {
	text := strings.ReplaceAll(r.values.Get(name), "\r\n", "\n")
	if previousText, ok := shownValue.(string); ok && (kind == Text || kind == LongText) && previousText == text {
		return shownValue, true
	}
	switch kind {
	case Text, LongText:
		return text, true
	case Number:
		if format, isAmount := r.unitFormat(name); isAmount {
			n, problem := r.fieldFormatter.readAmount(format, text, shownValue)
			if problem != "" {
				r.errorByName[name] = problem
			}
			return n, true
		}
		v, err := jsonval.Decode([]byte(strings.TrimSpace(text)))
		n, ok := v.(json.Number)
		if err != nil || !ok {
			r.errorByName[name] = "this is not a number: write it with digits and a point, such as 12.50"
			return nil, true
		}
		return n, true
	case Choice, JSON:
		if strings.TrimSpace(text) == "" {
			r.errorByName[name] = "choose a value"
			if kind == JSON {
				r.errorByName[name] = "this is empty: write a text in quotes, or null for no value"
			}
			return nil, true
		}
		v, err := jsonval.Decode([]byte(text))
		if err != nil {
			r.errorByName[name] = "this is not JSON: " + ideafiles.DecodeCause(err)
		}
		return v, true
	}
	r.errorByName[name] = fmt.Sprintf("the form has no control of kind %q", kind)
	return nil, true
}

func (r *reader) readObject(p position, node node, shownValue any) jsonval.Object {
	name := p.name
	previousObject, _ := shownValue.(jsonval.Object)
	out := jsonval.Object{}
	for _, key := range r.values[name+keySuffix] {
		v, wasPresent := previousObject[key]
		if p.depth == 0 && slices.Contains(r.fixedKeys, key) {
			if wasPresent {
				out[key] = v
			}
			continue
		}
		child := position{name: name + "/" + jsonschema.EscapePointerStep(key), depth: p.depth + 1}
		child.schemaNode, child.pointer = node.member(key)
		if v, hasMember := r.read(child, v, wasPresent); hasMember {
			out[key] = v
		}
	}
	otherMembersJSON := strings.TrimSpace(r.values.Get(name + otherMembersSuffix))
	if otherMembersJSON == "" {
		return out
	}
	otherMembers, err := jsonval.DecodeObject([]byte(otherMembersJSON))
	if err != nil {
		r.errorByName[name+otherMembersSuffix] = `want a JSON object, such as {"note": "fragile"}: ` + ideafiles.DecodeCause(err)
	}
	for key, v := range otherMembers {
		if _, isField := out[key]; isField {
			r.errorByName[name+otherMembersSuffix] = fmt.Sprintf("%q has a field of its own", key)
		}
		out[key] = v
	}
	return out
}

func (r *reader) readList(p position, node node, shownValue any) []any {
	name := p.name
	previousItems, _ := shownValue.([]any)
	out := []any{}
	for n := range min(submittedItemCount(r.values, name), maxListItems) {
		item := position{name: name + "/" + strconv.Itoa(n), schemaNode: node.items, pointer: node.pointer + "/items",
			depth: p.depth + 1}
		if r.values.Get(item.name+removedSuffix) != "" {
			continue
		}
		var v any
		if n < len(previousItems) {
			v = previousItems[n]
		}
		v, _ = r.read(item, v, n < len(previousItems))
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
