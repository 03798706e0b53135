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

// Kind is the kind of a Field's control.
type Kind string

// The kinds of controls.
const (
	Text     Kind = "text"   // one line
	LongText Kind = "long"   // several lines
	Number   Kind = "number" // as it is written
	Choice   Kind = "choice" // one of the Options, which are JSON
	JSON     Kind = "json"   // any value, as JSON
	Fixed    Kind = "fixed"  // shown, and kept as it is
	Object   Kind = "object" // Fields are its members
	List     Kind = "list"   // Fields are its items
)

// The states of a value that may be absent or null.
const (
	StateHasValue = "given"
	StateOmitted  = "out"  // it is left out
	StateNull     = "null" // it is null
)

// Field is one control, or a group of them.
type Field struct {
	Name         string // of the control: the form's prefix and a JSON pointer
	Label        string
	Unit         string   // of a number: its currency, or %
	Help         string   // the schema's description
	Hints        []string // the schema's constraints, in words
	Pattern      string   // a regular expression that the value must match, and that has no words
	Kind         Kind
	Value        string // what the control holds
	Options      []Option
	States       []string // the states that the value can have; none: it is always given
	State        string
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
	return f.Error != "" || f.OtherMembers != nil && f.OtherMembers.Error != "" || slices.ContainsFunc(f.Fields, (*Field).hasError)
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
	// Fixed are the top-level members that nobody changes.
	Fixed []string
	// Prefix begins the names of all controls.
	Prefix string
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
	form       Form
	entered    url.Values // the sent values, if the form is shown again; nil: it is new
	errors     map[string]string
	fieldCount int
}

// New makes the fields of a value; has reports whether there is one.
func (f Form) New(value any, isPresent bool) *Field {
	b := &builder{form: f, fieldFormatter: f.fieldFormatter()}
	return b.buildRoot(value, isPresent)
}

// FromEntered makes the fields of a form that was sent, with the errors.
func (f Form) FromEntered(value any, isPresent bool, entered url.Values, errors map[string]string) *Field {
	b := &builder{form: f, fieldFormatter: f.fieldFormatter(), entered: entered, errors: errors}
	return b.buildRoot(value, isPresent)
}

func (b *builder) buildRoot(value any, isPresent bool) *Field {
	return b.build(position{name: b.form.Prefix, schemaNode: b.form.Schema, isRequired: true}, value, isPresent)
}

// position is the position of a Field.
type position struct {
	name       string
	label      string
	schemaNode any // of the schema; nil: no constraints
	pointer    string
	isRequired bool
	isItem     bool
	depth      int
}

func (b *builder) build(p position, value any, isPresent bool) *Field {
	node := describeNode(b.form.Schema, p.schemaNode, p.pointer)
	f := &Field{Name: p.name, Label: p.label, Help: node.help, Required: p.isRequired, IsListItem: p.isItem,
		Error: b.errors[p.name], ForOperators: b.isForOperators(p.name),
		isMissing: p.isRequired && !isPresent}
	f.Hints, f.Pattern = b.hints(node, p.name)
	if node.title != "" && node.title != f.Label {
		f.Help = joinSentences(node.title, f.Help)
	}
	if p.depth == 0 {
		f.Help, f.Hints = "", nil // the page explains the whole form
	}
	b.fieldCount++
	f.Kind = b.kindOf(node, p, value, isPresent)
	b.addStates(f, node, p, value, isPresent)
	if sent := b.entered.Get(p.name + kindSuffix); sent != "" && f.Kind != Fixed {
		f.Kind = Kind(sent)
	}
	f.IsRemoved = b.entered.Get(p.name+removedSuffix) != ""
	switch f.Kind {
	case Object:
		b.addMembers(f, node, p, value)
	case List:
		b.addItems(f, node, p, value)
	case Choice:
		f.Options = b.choiceOptions(p.name, node.choices, value, isPresent)
	default:
		f.Value = valueText(f.Kind, value, isPresent)
		if format, isAmount := b.unitFormat(p.name); isAmount && f.Kind == Number {
			f.Unit, f.Value = format.Unit(), format.InputText(value, b.language)
		}
		if sent, wasSent := b.entered[p.name]; wasSent {
			f.Value = sent[0]
		}
	}
	return f
}

// addStates sets the possible states of a value, and its current state.
func (b *builder) addStates(f *Field, node node, p position, value any, isPresent bool) {
	if f.Kind == Fixed || f.Kind == JSON && p.isRequired {
		return
	}
	if !p.isRequired {
		f.States = append(f.States, StateOmitted)
	}
	if node.isNullable && f.Kind != JSON && !(f.Kind == Choice && node.hasNullChoice()) {
		f.States = append(f.States, StateNull)
	}
	if f.States == nil {
		return
	}
	f.States = append([]string{StateHasValue}, f.States...)
	switch {
	case !isPresent && p.isRequired:
		f.State = StateHasValue
	case !isPresent:
		f.State = StateOmitted
	case value == nil && f.Kind != JSON && f.Kind != Choice:
		f.State = StateNull
	default:
		f.State = StateHasValue
	}
	if sent := b.entered.Get(p.name + presenceSuffix); sent != "" {
		f.State = sent
	}
}

func (b *builder) addMembers(f *Field, node node, p position, value any) {
	members, isObject := value.(jsonval.Object)
	for _, key := range memberKeys(node, members) {
		sub := position{
			name: p.name + "/" + jsonschema.EscapePointerStep(key), label: b.memberLabel(node, key),
			isRequired: node.requires(key), depth: p.depth + 1,
		}
		sub.schemaNode, sub.pointer = node.member(key)
		v, isPresent := members[key]
		// an existing value without a required member may remain without it
		sub.isRequired = sub.isRequired && (isPresent || !isObject)
		if p.depth == 0 && slices.Contains(b.form.Fixed, key) {
			f.Fields = append(f.Fields, &Field{Name: sub.name, Label: sub.label, Kind: Fixed,
				ForOperators: b.isForOperators(sub.name),
				Value:        cmp.Or(b.amountText(sub.name, v), valueText(JSON, v, isPresent))})
		} else {
			f.Fields = append(f.Fields, b.build(sub, v, isPresent))
		}
		f.Keys = append(f.Keys, key)
	}
	if node.allowsMoreMembers() {
		f.OtherMembers = &Field{Name: p.name + moreSuffix, Label: "Other values", Kind: JSON,
			Value: b.entered.Get(p.name + moreSuffix), Error: b.errors[p.name+moreSuffix]}
	}
}

// memberLabel returns what people call a member. A member that the schema does not describe is called by its key, which
// is data.
func (b *builder) memberLabel(node node, key string) string {
	memberSchema, described := jsonschema.Properties(node.schema)[key]
	if !described {
		return key
	}
	return cmp.Or(describeNode(b.form.Schema, memberSchema, "").title, shown.Format{}.TitleOr(key))
}

func (b *builder) addItems(f *Field, node node, p position, value any) {
	items, _ := value.([]any)
	count := len(items)
	if b.entered != nil {
		count = submittedItemCount(b.entered, p.name)
		if b.entered.Get(AddItemButton) == p.name {
			count++
		}
	}
	f.CanAdd = count < maxListItems
	for n := range min(count, maxListItems) {
		sub := position{name: p.name + "/" + strconv.Itoa(n), label: strconv.Itoa(n + 1), isRequired: true, isItem: true,
			depth: p.depth + 1}
		sub.schemaNode, sub.pointer = node.items, node.pointer+"/items"
		if n < len(items) {
			f.Fields = append(f.Fields, b.build(sub, items[n], true))
		} else {
			f.Fields = append(f.Fields, b.build(sub, nil, false))
		}
	}
}

// valueText is the text of a value in a control.
func valueText(kind Kind, value any, isPresent bool) string {
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
	return Pretty(value)
}

// Pretty formats a value as JSON over several lines, with unchanged numbers. It escapes characters that are invisible
// in a text.
func Pretty(v any) string {
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
	hasSelected, entered := false, b.entered[name]
	for _, c := range choices {
		o := Option{JSON: jsonval.EncodeToString(c),
			Label: cmp.Or(b.amountText(name, c), shown.Format{}.Text(c, b.language))}
		o.Selected = isPresent && jsonval.Equal(c, value)
		if entered != nil {
			o.Selected = o.JSON == entered[0]
		}
		hasSelected = hasSelected || o.Selected
		list = append(list, o)
	}
	if !hasSelected {
		list = append([]Option{{Selected: true}}, list...)
	}
	return list
}
