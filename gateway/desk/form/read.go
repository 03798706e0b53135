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
	memberKeySuffix     = "~key"
	otherMembersSuffix  = "~more"
	itemCountSuffix     = "~count"
)

// AddItemButtonName is the name of the buttons that add an item to a list. The value of a button is the list's name.
const AddItemButtonName = "~add"

// formReader reads a sent form.
type formReader struct {
	fieldFormatter
	rootSchema     any // the schema
	sentValues     url.Values
	fixedKeys      []string
	errorByControl map[string]string
}

// Read returns the entered value; shownValue is the value for which the form was made. errorByControl has the errors by
// the names of fields; it is empty if there are none.
func (f Form) Read(shownValue any, values url.Values) (value any, errorByControl map[string]string) {
	r := &formReader{fieldFormatter: f.fieldFormatter(), rootSchema: f.Schema, sentValues: values,
		fixedKeys:      f.FixedKeys,
		errorByControl: map[string]string{}}
	value, _ = r.read(position{controlName: f.ControlPrefix, schema: f.Schema}, shownValue, true)
	return value, r.errorByControl
}

// IsAddItemRequest reports whether the sent form only asks for one more item of a list.
func IsAddItemRequest(values url.Values) bool { return values.Get(AddItemButtonName) != "" }

// read returns the value of the field at a place; hasValue is false if the value is omitted. What somebody entered must
// fit the schema; what was there before stays as it is.
func (r *formReader) read(p position, shownValue any, wasPresent bool) (value any, hasValue bool) {
	name := p.controlName
	kind, presence := ControlKind(r.sentValues.Get(name+kindSuffix)), r.sentValues.Get(name+presenceSuffix)
	if p.depth > 4*maxDepth {
		r.errorByControl[name] = "it is too deep for a form"
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
	node := describeNode(r.rootSchema, p.schema, p.schemaPointer)
	switch kind {
	case Object:
		return r.readObject(p, node, shownValue), true
	case List:
		value, hasValue = r.readList(p, node, shownValue), true
	default:
		value, hasValue = r.readControl(name, kind, shownValue)
	}
	if r.errorByControl[name] == "" && !(wasPresent && jsonval.Equal(value, shownValue)) {
		if problem := r.violationText(node, name, value); problem != "" {
			r.errorByControl[name] = problem
		}
	}
	return value, hasValue
}

// isTouched reports whether somebody entered a value in a field marked as absent: they forgot to change the mark.
func (r *formReader) isTouched(name string, kind ControlKind) bool {
	if r.sentValues.Get(name+presenceSuffix) != r.sentValues.Get(name+shownPresenceSuffix) {
		return false
	}
	switch kind {
	case Object, List:
		if r.sentValues.Get(name+otherMembersSuffix) != "" {
			return true
		}
		for key, sent := range r.sentValues {
			member, isMember := strings.CutPrefix(key, name+"/")
			if isMember && !isHelperControl(member) && sent[0] != "" &&
				r.sentValues.Get(key+kindSuffix) != string(Fixed) {
				return true
			}
		}
		return false
	}
	return r.sentValues.Get(name) != ""
}

func isHelperControl(name string) bool {
	tildeIndex := strings.LastIndex(name, "~")
	suffixes := []string{kindSuffix, presenceSuffix, shownPresenceSuffix, removedSuffix, memberKeySuffix,
		itemCountSuffix}
	return tildeIndex >= 0 && slices.Contains(suffixes, name[tildeIndex:])
}

func (r *formReader) readControl(name string, kind ControlKind, shownValue any) (value any, hasValue bool) {
	text := strings.ReplaceAll(r.sentValues.Get(name), "\r\n", "\n")
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
				r.errorByControl[name] = problem
			}
			return n, true
		}
		v, err := jsonval.Decode([]byte(strings.TrimSpace(text)))
		n, ok := v.(json.Number)
		if err != nil || !ok {
			r.errorByControl[name] = "this is not a number: write it with digits and a point, such as 12.50"
			return nil, true
		}
		return n, true
	case Choice, JSON:
		if strings.TrimSpace(text) == "" {
			r.errorByControl[name] = "choose a value"
			if kind == JSON {
				r.errorByControl[name] = "this is empty: write a text in quotes, or null for no value"
			}
			return nil, true
		}
		v, err := jsonval.Decode([]byte(text))
		if err != nil {
			r.errorByControl[name] = "this is not JSON: " + ideafiles.DecodeCause(err)
		}
		return v, true
	}
	r.errorByControl[name] = fmt.Sprintf("the form has no control of kind %q", kind)
	return nil, true
}

func (r *formReader) readObject(p position, node schemaNode, shownValue any) jsonval.Object {
	name := p.controlName
	previousObject, _ := shownValue.(jsonval.Object)
	out := jsonval.Object{}
	for _, key := range r.sentValues[name+memberKeySuffix] {
		v, wasPresent := previousObject[key]
		if p.depth == 0 && slices.Contains(r.fixedKeys, key) {
			if wasPresent {
				out[key] = v
			}
			continue
		}
		child := position{controlName: name + "/" + jsonschema.EscapePointerStep(key), depth: p.depth + 1}
		child.schema, child.schemaPointer = node.memberSchema(key)
		if v, hasMember := r.read(child, v, wasPresent); hasMember {
			out[key] = v
		}
	}
	otherMembersJSON := strings.TrimSpace(r.sentValues.Get(name + otherMembersSuffix))
	if otherMembersJSON == "" {
		return out
	}
	otherMembers, err := jsonval.DecodeObject([]byte(otherMembersJSON))
	if err != nil {
		r.errorByControl[name+otherMembersSuffix] = `want a JSON object, such as {"note": "fragile"}: ` + ideafiles.DecodeCause(err)
	}
	for key, v := range otherMembers {
		if _, isField := out[key]; isField {
			r.errorByControl[name+otherMembersSuffix] = fmt.Sprintf("%q has a field of its own", key)
		}
		out[key] = v
	}
	return out
}

func (r *formReader) readList(p position, node schemaNode, shownValue any) []any {
	name := p.controlName
	previousItems, _ := shownValue.([]any)
	out := []any{}
	for n := range min(submittedItemCount(r.sentValues, name), maxListItems) {
		item := position{controlName: name + "/" + strconv.Itoa(n), schema: node.itemSchema,
			schemaPointer: node.schemaPointer + "/items",
			depth:         p.depth + 1}
		if r.sentValues.Get(item.controlName+removedSuffix) != "" {
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
	n, err := strconv.Atoi(values.Get(name + itemCountSuffix))
	if err != nil {
		return 0
	}
	return max(n, 0)
}
