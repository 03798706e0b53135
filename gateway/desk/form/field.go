package form

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"processidea/client/readable"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// ControlKind is the kind of a Field's control.
type ControlKind string

// The kinds of controls.
const (
	Text     ControlKind = "text"   // one line
	LongText ControlKind = "long"   // several lines
	Number   ControlKind = "number" // as it is written
	Choice   ControlKind = "choice" // one of the Options, which are JSON
	JSON     ControlKind = "json"   // any value, as JSON
	Fixed    ControlKind = "fixed"  // shown, and kept as it is
	Object   ControlKind = "object" // Fields are its members
	List     ControlKind = "list"   // Fields are its items
)

// The states of a value that may be absent or null.
const (
	PresenceGiven   = "given"
	PresenceOmitted = "out"  // it is left out
	PresenceNull    = "null" // it is null
)

// Field is one control, or a group of them.
type Field struct {
	Name         string // of the control: the form's prefix and a JSON pointer
	Label        string
	Unit         string   // of a number: its currency, or %
	Help         string   // the schema's description
	Hints        []string // the schema's constraints, in words
	Pattern      string   // a regular expression that the value must match, and that has no words
	Kind         ControlKind
	Value        string // what the control holds
	Options      []Option
	Presences    []string // the states that the value can have; none: it is always given
	Presence     string
	Required     bool
	Error        string
	Fields       []*Field
	Keys         []string // of an Object: the keys that have Fields
	OtherMembers *Field   // of an Object: other members as JSON; nil: there can be none
	IsListItem   bool     // it is an item of a list, which can be removed
	IsRemoved    bool     // it is removed
	CanAdd       bool     // of a List
	// ForOperators means that only operators look at the Field. Pages show it folded, since it is part of what is
	// decided.
	ForOperators bool

	isMissing bool // it needs a value, and has none
}

// IsOpen reports whether a Field is unfolded although it is ForOperators, because the form cannot be sent without it.
func (f *Field) IsOpen() bool { return f.isMissing || f.hasError() }

func (f *Field) hasError() bool {
	return f.Error != "" || f.OtherMembers != nil && f.OtherMembers.Error != "" ||
		slices.ContainsFunc(f.Fields, (*Field).hasError)
}

// Option is an option of a Choice.
type Option struct {
	JSON     string // empty: nothing is chosen yet
	Label    string
	Selected bool
}

// Form makes the fields of values of one schema.
type Form struct {
	// Schema is a JSON Schema; nil: the fields are made from the value alone.
	Schema any
	// FixedKeys are the top-level members that nobody changes.
	FixedKeys []string
	// ControlPrefix begins the names of all controls.
	ControlPrefix string
	// Language is the language in which people type amounts of money; the default is English.
	Language shown.Language
}

const (
	maxListItems  = 200      // items that have controls of their own
	maxFields     = 500      // of a form
	maxValueBytes = 64 << 10 // bytes of a value that is changed in a form
	maxDepth      = 8
)

// builder makes the fields of one form.
type builder struct {
	fieldFormatter
	form           Form
	enteredValues  url.Values // the sent values, if the form is shown again; nil: it is new
	errorByControl map[string]string
	fieldCount     int
}

// NewField makes the fields of a value; isPresent reports whether there is one.
func (f Form) NewField(value any, isPresent bool) *Field {
	b := &builder{form: f, fieldFormatter: f.fieldFormatter()}
	return b.buildRoot(value, isPresent)
}

// NewFieldFromEntered makes the fields of a form that was sent, with the errors.
func (f Form) NewFieldFromEntered(value any, isPresent bool, enteredValues url.Values,
	errorByControl map[string]string) *Field {
	b := &builder{form: f, fieldFormatter: f.fieldFormatter(), enteredValues: enteredValues,
		errorByControl: errorByControl}
	return b.buildRoot(value, isPresent)
}

func (b *builder) buildRoot(value any, isPresent bool) *Field {
	return b.buildField(position{controlName: b.form.ControlPrefix, schema: b.form.Schema, isRequired: true}, value,
		isPresent)
}

// position is the position of a Field.
type position struct {
	controlName   string
	label         string
	schema        any // of the schema; nil: no constraints
	schemaPointer string
	isRequired    bool
	isItem        bool
	depth         int
}

func (b *builder) buildField(p position, value any, isPresent bool) *Field {
	node := describeNode(b.form.Schema, p.schema, p.schemaPointer)
	f := &Field{Name: p.controlName, Label: p.label, Help: node.help, Required: p.isRequired, IsListItem: p.isItem,
		Error: b.errorByControl[p.controlName], ForOperators: b.isForOperators(p.controlName),
		isMissing: p.isRequired && !isPresent}
	f.Hints, f.Pattern = b.hints(node, p.controlName)
	if node.title != "" && node.title != f.Label {
		f.Help = joinSentences(node.title, f.Help)
	}
	if p.depth == 0 {
		f.Help, f.Hints = "", nil // the page explains the whole form
	}
	b.fieldCount++
	f.Kind = b.chooseKind(node, p, value, isPresent)
	b.setPresence(f, node, p, value, isPresent)
	if sent := b.enteredValues.Get(p.controlName + kindSuffix); sent != "" && f.Kind != Fixed {
		f.Kind = ControlKind(sent)
	}
	f.IsRemoved = b.enteredValues.Get(p.controlName+removedSuffix) != ""
	switch f.Kind {
	case Object:
		b.addMembers(f, node, p, value)
	case List:
		b.addItems(f, node, p, value)
	case Choice:
		f.Options = b.choiceOptions(p.controlName, node.choices, value, isPresent)
	default:
		f.Value = valueText(f.Kind, value, isPresent)
		if format, isAmount := b.unitFormat(p.controlName); isAmount && f.Kind == Number {
			f.Unit, f.Value = format.Unit(), format.TypedNumberText(value, b.language)
		}
		if sent, wasSent := b.enteredValues[p.controlName]; wasSent {
			f.Value = sent[0]
		}
	}
	return f
}

// setPresence sets the possible states of a value, and its current state.
func (b *builder) setPresence(f *Field, node schemaNode, p position, value any, isPresent bool) {
	if f.Kind == Fixed || f.Kind == JSON && p.isRequired {
		return
	}
	if !p.isRequired {
		f.Presences = append(f.Presences, PresenceOmitted)
	}
	if node.isNullable && f.Kind != JSON && !(f.Kind == Choice && node.hasNullChoice()) {
		f.Presences = append(f.Presences, PresenceNull)
	}
	if f.Presences == nil {
		return
	}
	f.Presences = append([]string{PresenceGiven}, f.Presences...)
	switch {
	case !isPresent && p.isRequired:
		f.Presence = PresenceGiven
	case !isPresent:
		f.Presence = PresenceOmitted
	case value == nil && f.Kind != JSON && f.Kind != Choice:
		f.Presence = PresenceNull
	default:
		f.Presence = PresenceGiven
	}
	if sentPresence := b.enteredValues.Get(p.controlName + presenceSuffix); sentPresence != "" {
		f.Presence = sentPresence
	}
}

func (b *builder) addMembers(f *Field, node schemaNode, p position, value any) {
	members, isObject := value.(jsonval.Object)
	for _, key := range memberKeys(node, members) {
		child := position{
			controlName: p.controlName + "/" + jsonschema.EscapePointerStep(key), label: b.memberLabel(node, key),
			isRequired: node.requires(key), depth: p.depth + 1,
		}
		child.schema, child.schemaPointer = node.memberSchema(key)
		v, isPresent := members[key]
		// an existing value without a required member may remain without it
		child.isRequired = child.isRequired && (isPresent || !isObject)
		if p.depth == 0 && slices.Contains(b.form.FixedKeys, key) {
			f.Fields = append(f.Fields, &Field{Name: child.controlName, Label: child.label, Kind: Fixed,
				ForOperators: b.isForOperators(child.controlName),
				Value:        cmp.Or(b.amountText(child.controlName, v), valueText(JSON, v, isPresent))})
		} else {
			f.Fields = append(f.Fields, b.buildField(child, v, isPresent))
		}
		f.Keys = append(f.Keys, key)
	}
	if node.allowsMoreMembers() {
		f.OtherMembers = &Field{Name: p.controlName + otherMembersSuffix, Label: "Other values", Kind: JSON,
			Value: b.enteredValues.Get(p.controlName + otherMembersSuffix),
			Error: b.errorByControl[p.controlName+otherMembersSuffix]}
	}
}

// memberLabel returns what people call a member. A member that the schema does not describe is called by its key, which
// is data.
func (b *builder) memberLabel(node schemaNode, key string) string {
	memberSchema, isDescribed := jsonschema.Properties(node.schema)[key]
	if !isDescribed {
		return key
	}
	return cmp.Or(describeNode(b.form.Schema, memberSchema, "").title, shown.Format{}.TitleOr(key))
}

func (b *builder) addItems(f *Field, node schemaNode, p position, value any) {
	items, _ := value.([]any)
	itemCount := len(items)
	if b.enteredValues != nil {
		itemCount = submittedItemCount(b.enteredValues, p.controlName)
		if b.enteredValues.Get(AddItemButtonName) == p.controlName {
			itemCount++
		}
	}
	f.CanAdd = itemCount < maxListItems
	for n := range min(itemCount, maxListItems) {
		child := position{controlName: p.controlName + "/" + strconv.Itoa(n), label: strconv.Itoa(n + 1),
			isRequired: true,
			isItem:     true,
			depth:      p.depth + 1}
		child.schema, child.schemaPointer = node.itemSchema, node.schemaPointer+"/items"
		if n < len(items) {
			f.Fields = append(f.Fields, b.buildField(child, items[n], true))
		} else {
			f.Fields = append(f.Fields, b.buildField(child, nil, false))
		}
	}
}

// valueText is the text of a value in a control.
func valueText(kind ControlKind, value any, isPresent bool) string {
	if !isPresent {
		return ""
	}
	switch v := value.(type) {
	case string:
		if kind == Text || kind == LongText {
			return v
		}
	case json.Number:
		return v.String()
	case nil:
		if kind != JSON && kind != Fixed {
			return ""
		}
	}
	return PrettyJSON(value)
}

// PrettyJSON formats a value as JSON over several lines, with unchanged numbers. It escapes characters that are
// invisible in a text.
func PrettyJSON(v any) string {
	var b bytes.Buffer
	if err := json.Indent(&b, jsonval.Encode(v), "", "  "); err != nil {
		return jsonval.EncodeToString(v)
	}
	text := b.String()
	if !strings.ContainsFunc(text, readable.IsHidden) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if !readable.IsHidden(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

func (b *builder) choiceOptions(name string, choices []any, value any, isPresent bool) (list []Option) {
	hasSelected, enteredValues := false, b.enteredValues[name]
	for _, c := range choices {
		o := Option{JSON: jsonval.EncodeToString(c),
			Label: cmp.Or(b.amountText(name, c), shown.Format{}.Text(c, b.language))}
		o.Selected = isPresent && jsonval.Equal(c, value)
		if enteredValues != nil {
			o.Selected = o.JSON == enteredValues[0]
		}
		hasSelected = hasSelected || o.Selected
		list = append(list, o)
	}
	if !hasSelected {
		list = append([]Option{{Selected: true}}, list...)
	}
	return list
}
