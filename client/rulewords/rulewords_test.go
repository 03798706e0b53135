package rulewords_test

import (
	"strings"
	"testing"

	"processidea/client/rulewords"
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

func TestARuleIsSaidInWords(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(paying)
	format := shown.FormatOf(schema, schema)
	for when, want := range map[string]string{
		`{}`: "",
		`{"properties": {"amount": {"minimum": 1000}, "to": {"enum": ["Ann", "Bob"]}}}`:                                                   "“Amount” is 1,000.00 EUR or more and “Paid to” is one of Ann, Bob",
		`{"properties": {"amount": {"exclusiveMinimum": 1000, "maximum": 5000}}}`:                                                         "“Amount” is more than 1,000.00 EUR and “Amount” is 5,000.00 EUR or less",
		`{"properties": {"amount": {"exclusiveMaximum": 5}, "to": {"const": "Ann"}}}`:                                                     "“Amount” is less than 5.00 EUR and “Paid to” is Ann",
		`{"properties": {"orderNumber": {"minLength": 1, "maxLength": 2000}}}`:                                                            "“Order number” has at most 2,000 characters and “Order number” has at least 1 character",
		`{"properties": {"to": {"pattern": "^Ann"}, "orderNumber": {"pattern": "-7$"}}}`:                                                  "“Order number” ends with -7 and “Paid to” begins with Ann",
		`{"properties": {"to": {"pattern": "(?i)ltd|inc"}}}`:                                                                              "“Paid to” contains one of ltd, inc",
		`{"properties": {"to": {"pattern": "^Ann$"}, "tags": {"minItems": 2}}}`:                                                           "“Tags” has at least 2 items and “Paid to” is Ann",
		`{"properties": {"tags": {"contains": {"const": "urgent"}}}}`:                                                                     "an item of “Tags” is urgent",
		`{"properties": {"tags": {"items": {"enum": ["a", "b"], "minLength": 2}}}}`:                                                       "each item of “Tags” is one of a, b and each item of “Tags” has at least 2 characters",
		`{"properties": {"lines": {"contains": {"required": ["sku"], "properties": {"price": {"minimum": 10}, "sku": {"const": "x"}}}}}}`: "(“Price” is 10.00 EUR or more and “Article” is x) in an item of “Lines”",
		`{"properties": {"lines": {"items": {"type": "object", "properties": {"price": {"minimum": 10}}}}}}`:                              "“Price” is 10.00 EUR or more in each item of “Lines”",
		`{"anyOf": [{"properties": {"amount": {"minimum": 10}, "to": {"const": "x"}}}, {"properties": {"to": {"const": "y"}}}]}`:          "(“Amount” is 10.00 EUR or more and “Paid to” is x), or “Paid to” is y",
		`{"allOf": [{"required": ["to"]}, {"not": {"required": ["orderNumber"]}}]}`:                                                       "“Paid to” is given and “Order number” is not given",
		`{"properties": {"to": {"not": {"const": "Ann"}}, "amount": {"not": {"enum": [1, 2]}}}}`:                                          "“Amount” is none of 1.00 EUR, 2.00 EUR and “Paid to” is not Ann",
		`{"not": {"properties": {"to": {"pattern": "x"}, "amount": {"const": 1}}}}`:                                                       "this is not so: (“Amount” is 1.00 EUR and “Paid to” contains x)",
		`{"properties": {"orderNumber": false, "to": {"const": "{2} and {1}"}}}`:                                                          "“Order number” is not given and “Paid to” is {2} and {1}",

		`{"oneOf": [{"properties": {"amount": {"minimum": 10, "maximum": 20}}}, {"properties": {"amount": {"minimum": 15}}}]}`:                "exactly one of these is so: (“Amount” is 20.00 EUR or less and “Amount” is 10.00 EUR or more), or “Amount” is 15.00 EUR or more",
		`{"properties": {"to": {"oneOf": [{"format": "email"}, {"format": "uri"}]}, "amount": {"oneOf": [{"multipleOf": 50}]}}}`:              "“Amount” is a multiple of 50.00 EUR and (exactly one of these is so: “Paid to” is an email address, or “Paid to” is an address such as https://example.com)",
		`{"properties": {"to": {"format": "date"}, "orderNumber": {"format": "date-time"}, "tags": {"contains": {"format": "time"}}}}`:        "“Order number” is a date with a time of day and an item of “Tags” is a time of day and “Paid to” is a date",
		`{"if": {"properties": {"to": {"const": "x"}}}, "then": {"properties": {"amount": {"minimum": 10}}}, "else": {"required": ["tags"]}}`: "if “Paid to” is x, then “Amount” is 10.00 EUR or more, and otherwise “Tags” is given",
		`{"if": {"required": ["to", "tags"]}, "then": {"required": ["amount"]}, "else": {}}`:                                                  "if (“Paid to” is given and “Tags” is given), then “Amount” is given",
		`{"required": ["to"], "if": {"required": ["tags"]}, "then": true, "else": {"required": ["amount"]}}`:                                  "(unless “Tags” is given, “Amount” is given) and “Paid to” is given",
		`{"if": {"required": ["tags"]}, "required": ["to"]}`:                                                                                  "“Paid to” is given", `{"then": {"required": ["tags"]}}`: "",
	} {
		if got := rulewords.ConditionText(format, modeltest.MustDecodeJSON(when), shown.English, nil); got != want {
			t.Errorf("%s is\n%q, want\n%q", when, got, want)
		}
	}
}

func TestWhatOfARuleHasNoWordsIsMentioned(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(paying)
	format := shown.FormatOf(schema, schema)
	to := "“Paid to” meets a condition that stands under “For operators”"
	whole := "a condition is met that stands under “For operators”"
	for when, want := range map[string]string{
		`{"properties": {"to": {"pattern": "^[A-Z]+$"}}}`:                              to,
		`{"properties": {"to": {"pattern": "^a|b"}}}`:                                  to,
		`{"properties": {"to": {"type": "string"}}}`:                                   to,
		`{"properties": {"amount": {"minimum": 5}, "to": {"format": "uuid", "x": 1}}}`: "“Amount” is 5.00 EUR or more and " + to,
		`{"properties": {"secret": {"const": 1}}}`:                                     whole,
		`{"if": {}, "minProperties": 2, "required": ["secret", "to"]}`:                 whole + " and “Paid to” is given",
		`{"properties": {"to": {"const": {"a": 1}}}}`:                                  to,
		`{"anyOf": [{"required": ["to"]}, {}]}`:                                        whole,
		`{"properties": {"tags": {"contains": {"minLength": 2, "maxLength": 3}}}}`:     strings.Replace(to, "Paid to", "Tags", 1),

		`{"oneOf": [{"required": ["to"]}, false]}`:    whole,
		`{"if": {"required": ["to"]}, "then": false}`: whole,
		`{"if": {}, "then": {"required": ["to"]}}`:    whole,
	} {
		if got := rulewords.ConditionText(format, modeltest.MustDecodeJSON(when), shown.English, nil); got != want {
			t.Errorf("%s is\n%q, want\n%q", when, got, want)
		}
	}
}
