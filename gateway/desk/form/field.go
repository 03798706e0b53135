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
	Text   Kind = "text"   // one line
	Long   Kind = "long"   // several lines
	Number Kind = "number" // as it is written
	Choice Kind = "choice" // one of the Options, which are JSON
	JSON   Kind = "json"   // any value, as JSON
	Fixed  Kind = "fixed"  // shown, and kept as it is
	Object Kind = "object" // Fields are its members
	List   Kind = "list"   // Fields are its items
)

// The states of a value that may be absent or null.
const (
	StateGiven   = "given"
	StateOmitted = "out"  // it is left out
	StateNull    = "null" // it is null
)

// Field is one control, or a group of them.
type Field struct {
	Name     string // of the control: the form's prefix and a JSON pointer
	Label    string
	Unit     string   // of a number: its currency, or %
	Help     string   // the schema's description
	Hint     []string // the schema's constraints, in words
	Pattern  string   // a regular expression that the value must match, and that has no words
	Kind     Kind
	Value    string // what the control holds
	Options  []Option
	States   []string // the states that the value can have; none: it is always given
	State    string
	Required bool
	Error    string
	Fields   []*Field
	Keys     []string // of an Object: the keys that have Fields
	More     *Field   // of an Object: other members as JSON; nil: there can be none
	InList   bool     // it is an item of a list, which can be removed
	Removed  bool     // it is removed
	CanAdd   bool     // of a List
	// ForOperators means that only operators look at the Field. Pages show it folded, since it is part of what is
	// decided.
	ForOperators bool

	isMissing bool // it needs a value, and has none
}

// IsOpen reports whether a Field is unfolded although it is ForOperators, because the form cannot be sent without it.
func (f *Field) IsOpen() bool { return f.isMissing || f.hasError() }

func (f *Field) hasError() bool {
	return f.Error != "" || f.More != nil && f.More.Error != "" || slices.ContainsFunc(f.Fields, (*Field).hasError)
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
	maxList   = 200      // items that have controls of their own
	maxFields = 500      // of a form
	maxSize   = 64 << 10 // bytes of a value that is changed in a form
	maxDepth  = 8
)

// builder makes the fields of one form.
type builder struct {
	amounts
	form    Form
	entered url.Values // the sent values, if the form is shown again; nil: it is new
	errors  map[string]string
	fields  int
}

// New makes the fields of a value; has reports whether there is one.
func (f Form) New(value any, has bool) *Field {
	b := &builder{form: f, amounts: f.amounts()}
	return b.root(value, has)
}

// FromEntered makes the fields of a form that was sent, with the errors.
func (f Form) FromEntered(value any, has bool, entered url.Values, errors map[string]string) *Field {
	b := &builder{form: f, amounts: f.amounts(), entered: entered, errors: errors}
	return b.root(value, has)
}

func (b *builder) root(value any, has bool) *Field {
	return b.build(place{name: b.form.Prefix, node: b.form.Schema, required: true}, value, has)
}

// place is the position of a Field.
type place struct {
	name     string
	label    string
	node     any // of the schema; nil: no constraints
	pointer  string
	required bool
	inList   bool
	depth    int
}

func (b *builder) build(p place, value any, has bool) *Field {
	node := describe(b.form.Schema, p.node, p.pointer)
	f := &Field{Name: p.name, Label: p.label, Help: node.help, Required: p.required, InList: p.inList,
		Error: b.errors[p.name], ForOperators: b.isForOperators(p.name),
		isMissing: p.required && !has}
	f.Hint, f.Pattern = b.hint(node, p.name)
	if node.title != "" && node.title != f.Label {
		f.Help = joinSentences(node.title, f.Help)
	}
	if p.depth == 0 {
		f.Help, f.Hint = "", nil // the page explains the whole form
	}
	b.fields++
	f.Kind = b.kindOf(node, p, value, has)
	b.addStates(f, node, p, value, has)
	if sent := b.entered.Get(p.name + kindSuffix); sent != "" && f.Kind != Fixed {
		f.Kind = Kind(sent)
	}
	f.Removed = b.entered.Get(p.name+removedSuffix) != ""
	switch f.Kind {
	case Object:
		b.addMembers(f, node, p, value)
	case List:
		b.addItems(f, node, p, value)
	case Choice:
		f.Options = b.options(p.name, node.choices, value, has)
	default:
		f.Value = textOf(f.Kind, value, has)
		if format, isAmount := b.at(p.name); isAmount && f.Kind == Number {
			f.Unit, f.Value = format.Unit(), format.Entered(value, b.language)
		}
		if sent, is := b.entered[p.name]; is {
			f.Value = sent[0]
		}
	}
	return f
}

// addStates sets the possible states of a value, and its current state.
func (b *builder) addStates(f *Field, node node, p place, value any, has bool) {
	if f.Kind == Fixed || f.Kind == JSON && p.required {
		return
	}
	if !p.required {
		f.States = append(f.States, StateOmitted)
	}
	if node.nullable && f.Kind != JSON && !(f.Kind == Choice && node.hasNullChoice()) {
		f.States = append(f.States, StateNull)
	}
	if f.States == nil {
		return
	}
	f.States = append([]string{StateGiven}, f.States...)
	switch {
	case !has && p.required:
		f.State = StateGiven
	case !has:
		f.State = StateOmitted
	case value == nil && f.Kind != JSON && f.Kind != Choice:
		f.State = StateNull
	default:
		f.State = StateGiven
	}
	if sent := b.entered.Get(p.name + presenceSuffix); sent != "" {
		f.State = sent
	}
}

func (b *builder) addMembers(f *Field, node node, p place, value any) {
	members, isThere := value.(jsonval.Object)
	for _, key := range memberKeys(node, members) {
		at := place{
			name: p.name + "/" + jsonschema.EscapePointerStep(key), label: b.label(node, key),
			required: node.requires(key), depth: p.depth + 1,
		}
		at.node, at.pointer = node.member(key)
		v, has := members[key]
		// an existing value without a required member may remain without it
		at.required = at.required && (has || !isThere)
		if p.depth == 0 && slices.Contains(b.form.Fixed, key) {
			f.Fields = append(f.Fields, &Field{Name: at.name, Label: at.label, Kind: Fixed,
				ForOperators: b.isForOperators(at.name), Value: cmp.Or(b.text(at.name, v), textOf(JSON, v, has))})
		} else {
			f.Fields = append(f.Fields, b.build(at, v, has))
		}
		f.Keys = append(f.Keys, key)
	}
	if node.open() {
		f.More = &Field{Name: p.name + moreSuffix, Label: "Other values", Kind: JSON,
			Value: b.entered.Get(p.name + moreSuffix), Error: b.errors[p.name+moreSuffix]}
	}
}

// label returns what people call a member. A member that the schema does not describe is called by its key, which is
// data.
func (b *builder) label(node node, key string) string {
	part, described := jsonschema.Properties(node.schema)[key]
	if !described {
		return key
	}
	return cmp.Or(describe(b.form.Schema, part, "").title, shown.Format{}.TitleOr(key))
}

func (b *builder) addItems(f *Field, node node, p place, value any) {
	items, _ := value.([]any)
	count := len(items)
	if b.entered != nil {
		count = submittedItemCount(b.entered, p.name)
		if b.entered.Get(AddMark) == p.name {
			count++
		}
	}
	f.CanAdd = count < maxList
	for n := range min(count, maxList) {
		at := place{name: p.name + "/" + strconv.Itoa(n), label: strconv.Itoa(n + 1), required: true, inList: true,
			depth: p.depth + 1}
		at.node, at.pointer = node.items, node.pointer+"/items"
		if n < len(items) {
			f.Fields = append(f.Fields, b.build(at, items[n], true))
		} else {
			f.Fields = append(f.Fields, b.build(at, nil, false))
		}
	}
}

// textOf is the text of a value in a control.
func textOf(kind Kind, value any, has bool) string {
	if !has {
		return ""
	}
	switch v := value.(type) {
	case string:
		if kind == Text || kind == Long {
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

func (b *builder) options(name string, choices []any, value any, has bool) (list []Option) {
	found, entered := false, b.entered[name]
	for _, c := range choices {
		o := Option{JSON: jsonval.EncodeToString(c), Label: cmp.Or(b.text(name, c), shown.Format{}.Text(c, b.language))}
		o.Selected = has && jsonval.Equal(c, value)
		if entered != nil {
			o.Selected = o.JSON == entered[0]
		}
		found = found || o.Selected
		list = append(list, o)
	}
	if !found {
		list = append([]Option{{Selected: true}}, list...)
	}
	return list
}
