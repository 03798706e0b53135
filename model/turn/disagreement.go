package turn

import (
	"encoding/json"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// The parts of the text that tells people of two answers that differ.
const (
	disagreementPrefix = "asked a second time, the LLM decided otherwise. First: "
	secondAnswerPrefix = ". Then: "
	noCallText         = "no Call"
)

// DisagreementText describes the LLM's two answers for the person who decides on a Call.
func (c AnswerComparison) DisagreementText() string {
	return disagreementPrefix + callsText(c.FirstCalls) + secondAnswerPrefix + callsText(c.SecondCalls)
}

func callsText(calls []ideafile.WrittenCall) string {
	if len(calls) == 0 {
		return noCallText
	}
	var list []string
	for _, w := range calls {
		params := jsonval.WithoutKey(w.WithoutTarget().RawObject(), "_tool", "_reasoningForCall")
		list = append(list, w.Tool+" "+jsonval.Clip(jsonval.EncodeToString(params), 300))
	}
	return strings.Join(list, ", ")
}

// ReadDisagreement reads a DisagreementText, as far as its answers are whole, so that their Calls can be put into other
// words. prefix is what stands before the text. A Call whose parameters were clipped has none.
func ReadDisagreement(text string) (prefix string, firstCalls, secondCalls []jsonval.Object, ok bool) {
	prefix, rest, ok := strings.Cut(text, disagreementPrefix)
	if !ok {
		return "", nil, nil, false
	}
	firstCalls, rest = readCalls(rest)
	// the first was clipped
	if secondStart := strings.LastIndex(rest, secondAnswerPrefix); secondStart > 0 &&
		!strings.HasPrefix(rest, secondAnswerPrefix) {
		rest = rest[secondStart:]
	}
	rest, ok = strings.CutPrefix(rest, secondAnswerPrefix)
	secondCalls, _ = readCalls(rest)
	return prefix, firstCalls, secondCalls, ok
}

// readCalls reads Calls from the beginning of a text, and returns the rest of it.
func readCalls(text string) (calls []jsonval.Object, rest string) {
	if rest, isNone := strings.CutPrefix(text, noCallText); isNone {
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
		remaining, hasMore := strings.CutPrefix(rest, ", ")
		if !hasMore {
			return calls, rest
		}
		text = remaining
	}
}
