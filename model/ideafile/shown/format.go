package shown

import (
	"slices"
	"strings"

	"golang.org/x/text/currency"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// Display is how a value is shown, the value of `_display` in its schema.
type Display string

// The values of `_display`.
const (
	Plain    Display = ""
	Money    Display = "money"    // with a currency; in its smallest unit where minorUnits is true
	Percent  Display = "percent"  // of a share: 0.25 is 25 %
	Date     Display = "date"     // 2026-11-28
	DateTime Display = "datetime" // as RFC 3339
	Duration Display = "duration" // 72h, or a number of seconds
	Text     Display = "text"     // with its lines
	Letter   Display = "letter"   // a template whose {names} are members of the other parameters
	Link     Display = "link"     // an address to go to
	Image    Display = "image"    // an address of a picture
	Hidden   Display = "hidden"   // for operators alone
)

// Displays lists the values of `_display`.
var Displays = []Display{Date, DateTime, Duration, Hidden, Image, Letter, Link, Money, Percent, Text}

// schemaTypes lists the JSON types that a value of the Display can have.
func (d Display) schemaTypes() []string {
	switch d {
	case Money, Percent, Duration:
		return []string{"integer", "number", "string"}
	case Hidden:
		return nil
	}
	return []string{"string"}
}

// Format is how a schema wants a value shown.
type Format struct {
	Title          string
	Help           string
	Display        Display
	Currency       string // an ISO code; empty: the amount alone
	UsesMinorUnits bool
	IsChoice       bool // the schema lists the values
	// Properties are the formats of an object's members, by name; Order is the order of display.
	Properties map[string]Format
	Order      []string
	Items      *Format // of a list; nil: its schema says nothing
}

// maxMemberDepth is how many levels of members have a format of their own.
const maxMemberDepth = 4

// FormatOf reads the format of a part of a schema. It ignores errors, which Check reports.
func FormatOf(root, schema any) Format { return formatOf(root, schema, maxMemberDepth) }

func formatOf(root, schema any, levelsLeft int) (f Format) {
	for range maxMemberDepth {
		if m, ok := schema.(jsonval.Object); ok { // the keys beside a reference take precedence
			f.readAnnotations(m)
		}
		resolved, _ := jsonschema.ResolveLocalRefs(root, schema, "")
		m, ok := resolved.(jsonval.Object)
		if !ok {
			return f
		}
		f.readAnnotations(m)
		if f.readMembers(root, m, levelsLeft); f.Properties != nil || f.Items != nil {
			return f
		}
		if schema, ok = nonNullAlternative(m); !ok {
			return f
		}
	}
	return f
}

func (f *Format) readAnnotations(m jsonval.Object) {
	if f.Title == "" {
		f.Title = strings.TrimSpace(jsonval.AsText(m[jsonschema.TitleKey]))
	}
	if f.Help == "" {
		f.Help = strings.TrimSpace(jsonval.AsText(m["description"]))
	}
	f.IsChoice = f.IsChoice || m["enum"] != nil
	d := Display(jsonval.AsText(m[jsonschema.DisplayKey]))
	if f.Display != Plain || !slices.Contains(Displays, d) {
		return
	}
	f.Display = d
	if d == Money {
		if code := jsonval.AsText(m[jsonschema.CurrencyKey]); isCurrency(code) {
			f.Currency = strings.ToUpper(code)
		}
		f.UsesMinorUnits = m[jsonschema.MinorUnitsKey] == true
	}
}

func (f *Format) readMembers(root any, m jsonval.Object, levelsLeft int) {
	if levelsLeft == 0 {
		return
	}
	if items, exists := m["items"].(jsonval.Object); exists {
		format := formatOf(root, items, levelsLeft-1)
		f.Items = &format
	}
	properties := jsonschema.Properties(m)
	if len(properties) == 0 {
		return
	}
	f.Properties, f.Order = map[string]Format{}, jsonschema.PropertyDisplayOrder(m)
	for _, name := range f.Order {
		f.Properties[name] = formatOf(root, properties[name], levelsLeft-1)
	}
}

// nonNullAlternative is the one alternative of a schema beside null.
func nonNullAlternative(m jsonval.Object) (other any, ok bool) {
	for _, k := range []string{"anyOf", "oneOf"} {
		for _, part := range jsonval.AsList(m[k]) {
			if jsonval.AsObject(part)["type"] == "null" {
				continue
			}
			if other != nil {
				return nil, false
			}
			other = part
		}
	}
	return other, other != nil
}

// FindAnnotationProblem describes the first error in the annotations of one schema, and its key; "" if there is none.
func FindAnnotationProblem(schema jsonval.Object) (key, problem string) {
	if order, hasOrder := schema[jsonschema.OrderKey]; hasOrder {
		if _, isList := jsonval.AsStringList(order); !isList {
			return jsonschema.OrderKey, "want a list of names of properties, not " + jsonval.QuoteForError(order)
		}
	}
	display, hasDisplay := schema[jsonschema.DisplayKey]
	if !hasDisplay {
		return "", ""
	}
	d := Display(jsonval.AsText(display))
	if !slices.Contains(Displays, d) {
		names := jsonval.Map(Displays, func(d Display) string { return string(d) })
		return jsonschema.DisplayKey, "want " + strings.Join(names, ", ") + ", not " + jsonval.QuoteForError(display)
	}
	types := jsonschema.Types(schema)
	fits := func(name string) bool { return slices.Contains(d.schemaTypes(), name) }
	if d.schemaTypes() != nil && types != nil && !slices.ContainsFunc(types, fits) {
		return jsonschema.DisplayKey, string(d) + " is for values of type " + jsonschema.JoinWithOr(d.schemaTypes()) +
			", and these are of type " +
			jsonschema.JoinWithOr(types)
	}
	code, hasCode := schema[jsonschema.CurrencyKey]
	minorUnits, hasMinorUnits := schema[jsonschema.MinorUnitsKey]
	_, isBool := minorUnits.(bool)
	switch {
	case hasCode && !isCurrency(jsonval.AsText(code)):
		return jsonschema.CurrencyKey,
			"there is no currency " + jsonval.QuoteForError(code) + `: want its ISO code, such as "EUR"`
	case hasMinorUnits && !isBool:
		return jsonschema.MinorUnitsKey,
			"want true if the values are in the currency's smallest unit (cents), or else false"
	case d != Money && (hasCode || hasMinorUnits):
		return jsonschema.DisplayKey, `only "money" has a currency, not ` + jsonval.QuoteForError(display)
	case minorUnits == true && !hasCode:
		return jsonschema.MinorUnitsKey, "the smallest unit depends on the currency: give the currency, too"
	}
	return "", ""
}

// FormatAt is the format of a member or an item; the zero Format if it has none.
func (f Format) FormatAt(path jsonval.Path) Format {
	for _, step := range path {
		if f.Items != nil {
			f = *f.Items
		} else {
			f = f.Properties[step]
		}
	}
	return f
}

// TitleOr returns the title, or one made from the name.
func (f Format) TitleOr(name string) string {
	if f.Title != "" {
		return f.Title
	}
	return titleFromName(name)
}

// hasMoney reports whether a member is money.
func (f Format) hasMoney() bool {
	for _, name := range f.Order {
		if memberFormat := f.Properties[name]; memberFormat.Display == Money || memberFormat.hasMoney() {
			return true
		}
	}
	return false
}

// findAmount is the first money in an object, in the order of its schema; nil: it has none.
func (f Format) findAmount(v any) *Field {
	values := jsonval.AsObject(v)
	for _, name := range f.Order {
		memberFormat, v := f.Properties[name], values[name]
		if _, isAmount := memberFormat.parseAmount(v); isAmount {
			return &Field{Value: v, Format: memberFormat}
		}
		if nested := memberFormat.findAmount(v); nested != nil {
			return nested
		}
	}
	return nil
}

// MemberTitle returns what people call a member. A name that the schema does not describe stays as it is, since it is
// data.
func (f Format) MemberTitle(member string) string {
	if format, isDescribed := f.Properties[member]; isDescribed {
		return format.TitleOr(member)
	}
	return member
}

func isCurrency(code string) bool {
	unit, err := currency.ParseISO(code)
	return err == nil && unit.String() != "XXX"
}

// currencyDecimalPlaces is how many digits a currency has after the point.
func currencyDecimalPlaces(code string) int {
	unit, err := currency.ParseISO(code)
	if err != nil {
		return 2
	}
	decimalPlaces, _ := currency.Standard.Rounding(unit)
	return decimalPlaces
}
