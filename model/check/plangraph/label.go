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
	Words *shown.Words             // of the Plan's Idea; nil: the names
	Say   func(text string) string // puts a text of the engine into the reader's language; nil: it stays
}

// The most characters of a label, and of the instances in one.
const (
	maxLabel     = 60
	maxInstances = 30
)

func (l Labels) say(text string) string {
	if l.Say == nil {
		return text
	}
	return l.Say(text)
}

// call names a Call by its number, its Tool and the instances that it is for.
func (l Labels) call(number int, tool string, instances []string) (lines []string) {
	if l.Words == nil {
		line := fmt.Sprintf("%d %s", number, jsonval.Clip(tool, maxLabel))
		if len(instances) > 0 {
			line += " @" + jsonval.Clip(strings.Join(instances, ", "), maxInstances)
		}
		return []string{line}
	}
	lines = []string{fmt.Sprintf("%d %s", number, jsonval.Clip(l.Words.Tool(tool), maxLabel))}
	if len(instances) > 0 {
		lines = append(lines, jsonval.Clip(strings.Join(jsonval.Map(instances, l.Words.NameOf), ", "), maxLabel))
	}
	return lines
}

// path names a place in State.
func (l Labels) path(p jsonval.Path) string {
	if l.Words != nil {
		return l.given(refexpr.Reference{Kind: ideafile.TypeState, Path: p})
	}
	if len(p) == 0 {
		return "State"
	}
	return jsonval.Clip(p.String(), maxLabel)
}

// paths names all places in State that a Call writes.
func (l Labels) paths(c graphCall) string {
	if l.Words == nil {
		return jsonval.Clip(c.outputPathText, maxLabel)
	}
	return jsonval.Clip(strings.Join(jsonval.Map(c.outputPaths, l.path), ", "), maxLabel)
}

// Writes names the places in State that a Call writes.
func (l Labels) Writes(call any) string {
	var c graphCall
	c.readRawCall(jsonval.AsObject(call))
	return l.paths(c)
}

// given names what a Reference leads to.
func (l Labels) given(ref refexpr.Reference) string {
	if l.Words == nil {
		return jsonval.Clip(ref.String(), maxLabel)
	}
	whole := map[string]string{ideafile.TypeInput: "What it began with", ideafile.TypeState: "What is known of it now"}
	if len(ref.Path) == 0 && whole[ref.Kind] != "" {
		return l.say(whole[ref.Kind])
	}
	return jsonval.Clip(cmp.Or(l.Words.Place(ref.Kind, ref.Path), ref.String()), maxLabel)
}

// InWords returns a value with each expression replaced by the names, in quotation marks, of what it leads to. A value
// with an invalid expression stays as it is.
func (l Labels) InWords(v any) any {
	words, err := refexpr.ResolveExpressions(v, func(e refexpr.Expression) (any, bool) {
		names := jsonval.Map(e, func(all []refexpr.Reference) string { return l.given(all[len(all)-1]) })
		return "“" + strings.Join(names, "” / “") + "”", true
	})
	if err != nil {
		return v
	}
	return words
}

// ParamsInWords is InWords for the parameters of a Call as it is written.
func (l Labels) ParamsInWords(call jsonval.Object) jsonval.Object {
	params := jsonval.AsObject(jsonschema.WithoutMetaKeys(call))
	for name, v := range params {
		params[name] = l.InWords(v)
	}
	return params
}

// statuses lists in how many instances a Call has each status; for a single instance, the status only.
func (l Labels) statuses(counts map[ideafile.CallStatus]int) string {
	var parts []string
	for _, f := range statusFills {
		if n := counts[f.status]; n == 1 && len(counts) == 1 {
			return l.say(string(f.status))
		} else if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, l.say(string(f.status))))
		}
	}
	return strings.Join(parts, ", ")
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
