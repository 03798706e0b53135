package form

import (
	"cmp"
	"encoding/json"
	"strings"

	"processidea/model/ideafile/shown"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// amounts are the money of a form: it is typed in whole units of its currency, whatever the unit of the value. They
// know how its other values are shown, too.
type amounts struct {
	format   shown.Format
	prefix   string
	language shown.Language
}

func (f Form) amounts() amounts {
	return amounts{shown.FormatOf(f.Schema, f.Schema), f.Prefix, cmp.Or(f.Language, shown.English)}
}

// at is how the money in a control is shown; ok is false for a control of any other value.
func (a amounts) at(name string) (format shown.Format, ok bool) {
	format = a.formatAt(name)
	return format, format.Display == shown.Money
}

func (a amounts) formatAt(name string) shown.Format {
	steps := strings.Split(strings.TrimPrefix(name, a.prefix), "/")[1:]
	return a.format.At(jsonval.Map(steps, jsonschema.UnescapePointerStep))
}

func (a amounts) isForOperators(name string) bool { return a.formatAt(name).Display == shown.Hidden }

// text shows an amount; "" of any other value.
func (a amounts) text(name string, value any) string {
	if format, ok := a.at(name); ok && format.Entered(value, a.language) != "" {
		return format.Text(value, a.language)
	}
	return ""
}

// read reads an amount; the value that the form was made for stays as it was written.
func (a amounts) read(format shown.Format, text string, before any) (n json.Number, problem string) {
	text = strings.TrimSpace(text)
	if was, isNumber := before.(json.Number); isNumber && text == format.Entered(was, a.language) {
		return was, ""
	}
	return format.ReadEntered(text, a.language)
}
