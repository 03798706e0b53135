package form

import (
	"cmp"
	"encoding/json"
	"strings"

	"processidea/model/ideafile/shown"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// fieldFormatter reads and shows the numbers in a form that people type in a unit, whatever the unit of the value:
// money in whole units of its currency, a share in percent, a duration in words. It also knows how other values of the
// form are shown.
type fieldFormatter struct {
	format        shown.Format
	controlPrefix string
	language      shown.Language
}

func (f Form) fieldFormatter() fieldFormatter {
	return fieldFormatter{shown.FormatOf(f.Schema, f.Schema), f.ControlPrefix, cmp.Or(f.Language, shown.English)}
}

// unitFormat returns how the number in a control is shown; ok is false if people type the control's value as it is.
func (a fieldFormatter) unitFormat(name string) (format shown.Format, ok bool) {
	format = a.formatAt(name)
	return format, format.HasUnit()
}

func (a fieldFormatter) formatAt(name string) shown.Format {
	steps := strings.Split(strings.TrimPrefix(name, a.controlPrefix), "/")[1:]
	return a.format.FormatAt(jsonval.Map(steps, jsonschema.UnescapePointerStep))
}

func (a fieldFormatter) isForOperators(name string) bool {
	return a.formatAt(name).Display == shown.Hidden
}

// amountText formats an amount, or returns "" for any other value.
func (a fieldFormatter) amountText(name string, value any) string {
	if format, ok := a.unitFormat(name); ok && format.TypedNumberText(value, a.language) != "" {
		return format.Text(value, a.language)
	}
	return ""
}

// readAmount reads an amount. If the text stands for the value before, that value is returned with unchanged digits.
func (a fieldFormatter) readAmount(format shown.Format, text string,
	previousValue any) (n json.Number, problem string) {
	text = strings.TrimSpace(text)
	if number, isNumber := previousValue.(json.Number); isNumber && text == format.TypedNumberText(number, a.language) {
		return number, ""
	}
	return format.ParseTypedNumber(text, a.language)
}
