package plangraph

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// Labels say how a picture names things to people. The zero Labels take the names of the Plan.
type Labels struct {
	Presenter *shown.Presenter         // of the Plan's Idea; nil: the names
	Translate func(text string) string // puts a text of the engine into the reader's language; nil: it stays

	// titleByReference has the titles of parameters that take a value as it is.
	titleByReference map[string]string
}

// withParamTitles names each value for which the data's schema has no title by the first parameter that takes it as it
// is.
func (l Labels) withParamTitles(calls []ideafile.WrittenCall) Labels {
	if l.Presenter == nil {
		return l
	}
	l.titleByReference = map[string]string{}
	for _, call := range calls {
		l.addParamTitles(l.Presenter.ParamsFormat(call.Tool), call.RawObject())
	}
	return l
}

func (l Labels) addParamTitles(f shown.Format, v any) {
	for step, member := range jsonval.Members(v) {
		format := f.FormatAt(jsonval.Path{step})
		ref, err := refexpr.ParseReference(jsonval.AsText(member))
		if refText := ref.String(); err == nil && l.titleByReference[refText] == "" {
			l.titleByReference[refText] = format.Title
		}
		l.addParamTitles(format, member)
	}
}

// The most characters of a label, and of the instances in one.
const (
	maxLabelRunes        = 60
	maxInstanceListRunes = 30
)

func (l Labels) translate(text string) string {
	if l.Translate == nil {
		return text
	}
	return l.Translate(text)
}

// callLines names a Call by its number, its Tool and the instances that it is for.
func (l Labels) callLines(callNumber int, toolName string, instanceTokens []string) (lines []string) {
	if l.Presenter == nil {
		line := fmt.Sprintf("%d %s", callNumber, jsonval.Clip(toolName, maxLabelRunes))
		if len(instanceTokens) > 0 {
			line += " @" + jsonval.Clip(strings.Join(instanceTokens, ", "), maxInstanceListRunes)
		}
		return []string{line}
	}
	lines = []string{fmt.Sprintf("%d %s", callNumber, jsonval.Clip(l.Presenter.ToolTitle(toolName), maxLabelRunes))}
	if len(instanceTokens) > 0 {
		lines = append(lines, jsonval.Clip(strings.Join(jsonval.Map(instanceTokens, l.Presenter.KnownInstanceName),
			", "),
			maxLabelRunes))
	}
	return lines
}

// pathLabel names a place in State.
func (l Labels) pathLabel(p jsonval.Path) string {
	if l.Presenter != nil {
		return l.referenceLabel(refexpr.Reference{Kind: ideafile.TypeState, Path: p})
	}
	if len(p) == 0 {
		return "State"
	}
	return jsonval.Clip(p.String(), maxLabelRunes)
}

// outputPathsLabel names all places in State that a Call writes.
func (l Labels) outputPathsLabel(c graphCall) string {
	if l.Presenter == nil {
		return jsonval.Clip(c.outputPathText, maxLabelRunes)
	}
	return jsonval.Clip(strings.Join(jsonval.Map(c.outputPaths, l.pathLabel), ", "), maxLabelRunes)
}

// DescribeWrites names the places in State that a Call writes.
func (l Labels) DescribeWrites(call any) string {
	var c graphCall
	c.readRawCall(jsonval.AsObject(call))
	return l.outputPathsLabel(c)
}

// referenceLabel names what a Reference leads to.
func (l Labels) referenceLabel(ref refexpr.Reference) string {
	if l.Presenter == nil {
		return jsonval.Clip(ref.String(), maxLabelRunes)
	}
	labelByKind := map[string]string{ideafile.TypeInput: "What it began with",
		ideafile.TypeState: "What is known of it now"}
	if len(ref.Path) == 0 && labelByKind[ref.Kind] != "" {
		return l.translate(labelByKind[ref.Kind])
	}
	format := map[string]shown.Format{ideafile.TypeInput: l.Presenter.InputFormat(),
		ideafile.TypeState: l.Presenter.StateFormat()}[ref.Kind]
	title := ""
	if format.FormatAt(ref.Path).Title == "" {
		title = l.titleByReference[ref.String()]
	}
	return jsonval.Clip(cmp.Or(title, l.Presenter.PathTitle(ref.Kind, ref.Path), ref.String()), maxLabelRunes)
}

// ExpressionsInWords returns a value with each expression replaced by the names, in quotation marks, of what it leads
// to. A value with an invalid expression stays as it is.
func (l Labels) ExpressionsInWords(v any) any {
	words, err := refexpr.ResolveExpressions(v, func(e refexpr.Expression) (any, bool) {
		names := jsonval.Map(e, func(all []refexpr.Reference) string { return l.referenceLabel(all[len(all)-1]) })
		return "“" + strings.Join(names, "” / “") + "”", true
	})
	if err != nil {
		return v
	}
	return words
}

// ParamsInWords is ExpressionsInWords for the parameters of a Call as it is written.
func (l Labels) ParamsInWords(call jsonval.Object) jsonval.Object {
	params := jsonval.AsObject(jsonschema.WithoutMetaKeys(call))
	for name, v := range params {
		params[name] = l.ExpressionsInWords(v)
	}
	return params
}

// statusLine lists in how many instances a Call has each status; for a single instance, the status only.
func (l Labels) statusLine(countByStatus map[ideafile.CallStatus]int) string {
	var parts []string
	for _, status := range barStatuses {
		if n := countByStatus[status]; n == 1 && len(countByStatus) == 1 {
			return l.translate(string(status))
		} else if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, l.translate(string(status))))
		}
	}
	return strings.Join(parts, ", ")
}

// StatusTexts says of each Call of a Plan in how many instances it has each status; nothing of those of which nothing
// is known.
func (l Labels) StatusTexts(calls []any, statusCounts []map[ideafile.CallStatus]int) (texts []string) {
	for n, call := range ideafile.ParseWrittenCalls(calls) {
		if n >= len(statusCounts) || len(statusCounts[n]) == 0 {
			continue
		}
		lines := l.callLines(n+1, cmp.Or(call.Tool, "?"), call.TargetTokens)
		texts = append(texts, singleLine(strings.Join(lines, ", ")+": "+l.statusLine(statusCounts[n])))
	}
	return texts
}

// singleLine replaces each character that ends a line or cannot be shown by a space.
func singleLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Zl, r) ||
			unicode.Is(unicode.Zp, r) ||
			unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
}
