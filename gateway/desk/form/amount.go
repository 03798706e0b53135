package form

import (
	"cmp"
	"encoding/json"
	"strings"

	"processidea/model/ideafile/shown"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// amounts reads and shows the numbers in a form that people type in a unit, whatever the unit of the value: money in
// whole units of its currency, a share in percent, a duration in words. It also knows how other values of the form are
// shown.
type amounts struct {
	format   shown.Format
	prefix   string
	language shown.Language
}

func (f Form) amounts() amounts {
	return amounts{shown.FormatOf(f.Schema, f.Schema), f.Prefix, cmp.Or(f.Language, shown.English)}
}

// at returns how the number in a control is shown; ok is false if people type the control's value as it is.
func (a amounts) at(name string) (format shown.Format, ok bool) {
	format = a.formatAt(name)
	return format, format.HasUnit()
}

func (a amounts) formatAt(name string) shown.Format {
	steps := strings.Split(strings.TrimPrefix(name, a.prefix), "/")[1:]
	return a.format.At(jsonval.Map(steps, jsonschema.UnescapePointerStep))
}

func (a amounts) isForOperators(name string) bool { return a.formatAt(name).Display == shown.Hidden }

// text formats an amount, or returns "" for any other value.
func (a amounts) text(name string, value any) string {
	if format, ok := a.at(name); ok && format.Entered(value, a.language) != "" {
		return format.Text(value, a.language)
	}
	return ""
}

// read reads an amount. If the text stands for the value before, that value is returned with unchanged digits.
func (a amounts) read(format shown.Format, text string, before any) (n json.Number, problem string) {
	text = strings.TrimSpace(text)
	if was, isNumber := before.(json.Number); isNumber && text == format.Entered(was, a.language) {
		return was, ""
	}
	return format.ReadEntered(text, a.language)
}
