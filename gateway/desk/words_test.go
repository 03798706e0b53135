package desk

import (
	"strings"
	"testing"

	"processidea/model/ideafile/shown"
	"processidea/model/modeltest"
)

// paying is how a Tool's schema wants its parameters shown.
const paying = `{"type": "object", "properties": {
	"amount": {"title": "Amount", "type": "number", "_display": "money", "currency": "EUR"},
	"to": {"title": "Paid to", "type": "string"}, "orderNumber": {"type": "string"}, "secret": {"_display": "hidden"},
	"tags": {"title": "Tags", "type": "array", "items": {"type": "string"}},
	"lines": {"title": "Lines", "type": "array", "items": {"type": "object", "properties": {
		"price": {"title": "Price", "type": "number", "_display": "money", "currency": "EUR"}, "sku": {"title": "Article"}}}}}}`

func TestARuleIsSaidInGerman(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(paying)
	terms := rulesInWords(shown.FormatOf(schema, schema), modeltest.MustDecodeJSON(`{"properties": {
		"amount": {"exclusiveMinimum": 1000}, "to": {"maxLength": 1234, "not": {"const": "A and “B” is 1 or more"}},
		"lines": {"contains": {"properties": {"price": {"maximum": 1.5}}}}, "orderNumber": {"format": "uuid"}},
		"if": {"properties": {"to": {"format": "email"}}}, "then": {"properties": {"amount": {"multipleOf": 2.5}}},
		"else": {"oneOf": [{"required": ["to"]}, {"required": ["tags"]}]}}`), shown.German)
	if got, want := strings.Join(terms, "\n"), "falls gilt: „Paid to“ ist eine E-Mail-Adresse, "+
		"dann: „Amount“ ist ein Vielfaches von 2,50 EUR, und sonst: (genau eines davon trifft zu: "+
		"„Paid to“ ist angegeben, oder „Tags“ ist angegeben)\n"+
		"„Amount“ ist mehr als 1.000,00 EUR\n"+
		"„Price“ ist 1,50 EUR oder weniger in einem Eintrag von „Lines“\n"+
		"„Order number“ erfüllt eine Bedingung, die unter „Für die Technik“ steht\n"+
		"„Paid to“ hat höchstens 1.234 Zeichen\n„Paid to“ ist nicht A and “B” is 1 or more"; got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
}
