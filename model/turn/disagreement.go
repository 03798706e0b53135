package turn

import (
	"encoding/json"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// The parts of the text that tells people of two answers that differ.
const (
	askedAgain = "asked a second time, the LLM decided otherwise. First: "
	andThen    = ". Then: "
	noCall     = "no Call"
)

// DisagreementText describes the LLM's two answers for the person who decides on a Call.
func (c Comparison) DisagreementText() string {
	return askedAgain + callsText(c.First) + andThen + callsText(c.Second)
}

func callsText(calls []ideafile.WrittenCall) string {
	if len(calls) == 0 {
		return noCall
	}
	var list []string
	for _, w := range calls {
		given := jsonval.WithoutKey(w.WithoutTarget().RawObject(), "_tool", "_reasoningForCall")
		list = append(list, w.Tool+" "+jsonval.Clip(jsonval.EncodeToString(given), 300))
	}
	return strings.Join(list, ", ")
}

// ReadDisagreement reads a DisagreementText, as far as its answers are whole, so that their Calls can be put into other
// words. before is what stands before the text. A Call whose parameters were clipped has none.
func ReadDisagreement(text string) (before string, first, second []jsonval.Object, ok bool) {
	before, rest, ok := strings.Cut(text, askedAgain)
	if !ok {
		return "", nil, nil, false
	}
	first, rest = readCalls(rest)
	if at := strings.LastIndex(rest, andThen); at > 0 && !strings.HasPrefix(rest, andThen) { // the first was clipped
		rest = rest[at:]
	}
	rest, ok = strings.CutPrefix(rest, andThen)
	second, _ = readCalls(rest)
	return before, first, second, ok
}

// readCalls reads Calls from the beginning of a text, and returns the rest of it.
func readCalls(text string) (calls []jsonval.Object, rest string) {
	if rest, none := strings.CutPrefix(text, noCall); none {
		return nil, rest
	}
	for {
		tool, params, _ := strings.Cut(text, " ")
		var call jsonval.Object
		d := json.NewDecoder(strings.NewReader(params))
		d.UseNumber()
		if d.Decode(&call) != nil || call == nil {
			return append(calls, jsonval.Object{"_tool": tool}), params
		}
		call["_tool"] = tool
		calls, rest = append(calls, call), params[d.InputOffset():]
		more, is := strings.CutPrefix(rest, ", ")
		if !is {
			return calls, rest
		}
		text = more
	}
}
