package chain

import (
	"maps"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/store/texts"
)

// redaction removes an instance from Ideas. Everything else keeps its place: Calls keep their numbers, and the instance
// remains as a settled one with an empty State.
type redaction struct {
	token          string
	otherTokens    []string  // the tokens of all other instances
	done           bool      // an Idea records that the instance was removed before
	statedMentions []Mention // the places that this record names
	// ownTexts are texts of the instance; the value is false if a text occurs outside of the instance too.
	ownTexts map[string]bool
	needles  []texts.Needle // for texts that only the instance has; built once all Ideas are read
}

// maxOwnTexts bounds how many texts of the instance are searched for in what remains. Texts shorter than minTextLength
// are not searched for.
const (
	maxOwnTexts   = 500
	minTextLength = 4
)

// collectTexts collects the texts that only the instance has in an Idea. found reports whether the Idea has the
// instance.
func (r *redaction) collectTexts(m *manifest, body jsonval.Object) (found bool) {
	if says := m.forgottenInstance(); says.Instance == r.token {
		r.done, r.statedMentions = true, append(r.statedMentions, says.Mentions...)
	}
	owners := ideafile.SplitContextByInstance(body["context"])
	own := owners.MessagesByInstance[r.token]
	isGone := len(own) == 1 && jsonval.Equal(own[0].Source, r.messageStub())
	if found = len(own) > 0 && !isGone; found {
		for _, m := range own {
			r.addTexts(m.Payload, true)
		}
	}
	for _, token := range owners.InstanceTokens {
		if token == r.token {
			continue
		}
		r.otherTokens = jsonval.AppendNew(r.otherTokens, token)
		for _, m := range owners.MessagesByInstance[token] {
			r.addTexts(m.Payload, false)
		}
	}
	for _, m := range owners.SharedMessages {
		if m.Type != ideafile.TypePlan && m.Type != ideafile.TypeError {
			r.addTexts(m.Source, false)
		}
	}
	return found
}

func (r *redaction) addTexts(v any, mine bool) {
	look := func(_ texts.Place, text string) {
		_, known := r.ownTexts[text]
		switch {
		case !mine && known:
			r.ownTexts[text] = false
		case mine && !known && len([]rune(text)) >= minTextLength && len(r.ownTexts) < maxOwnTexts:
			r.ownTexts[text] = true
		}
	}
	_ = texts.Walk{OnText: look}.Each(v, texts.Place{}) // nothing is loaded, and nothing fails
}

func (r *redaction) redactDraft(d draft) draft {
	left := draft{meta: maps.Clone(d.meta), body: maps.Clone(d.body), log: d.log}
	if list, ok := d.body["context"].([]any); ok {
		left.body["context"] = r.redactMessages(list)
	}
	if solution, ok := d.body["solution"].(jsonval.Object); ok {
		solution = maps.Clone(solution)
		if calls, ok := solution["calls"].([]any); ok {
			solution["calls"] = r.redactCalls(calls)
		}
		left.body["solution"] = solution
	}
	for _, key := range []string{"decisions", turn.EndedByRequestKey} {
		if list, ok := d.meta[key].([]any); ok {
			left.meta[key] = r.withoutInstance(list)
		}
	}
	if log, ok := d.log.([]any); ok {
		left.log = r.withoutInstance(log)
		left.meta["log"] = digestOf(left.log)
	}
	return left
}

// withoutInstance removes from a list the instance's token, and entries that concern only the instance or one of its
// Calls.
func (r *redaction) withoutInstance(list []any) []any {
	left := []any{}
	for _, e := range list {
		m := jsonval.AsObject(e)
		if of, ok := m["instances"].([]any); ok && slices.Contains(of, any(r.token)) {
			rest := r.withoutInstance(of)
			if len(rest) == 0 {
				continue
			}
			m = maps.Clone(m)
			m["instances"], e = rest, m
		}
		if e != r.token && m["instance"] != r.token && !r.ofCall(jsonval.AsText(m["call"])) {
			left = append(left, e)
		}
	}
	return left
}

func (r *redaction) ofCall(id string) bool { return ideafile.InstanceTokenOfCallID(id) == r.token }

// messageStub is the Message that replaces the instance's Messages.
func (r *redaction) messageStub() jsonval.Object {
	return jsonval.Object{"type": ideafile.TypeState, "_instance": r.token, "state": jsonval.Object{},
		ideafile.StatusKey: string(ideafile.InstanceSettled)}
}

func (r *redaction) redactMessages(list []any) []any {
	left, stands := []any{}, false
	for _, raw := range list {
		m := jsonval.AsObject(raw)
		switch {
		case m["_instance"] == r.token && !stands:
			stands = true
			left = append(left, r.messageStub())
		case m["_instance"] == r.token:
		case m["type"] == ideafile.TypePlan:
			left = append(left, r.redactPlan(m)...)
		case m["type"] == ideafile.TypeError:
			left = append(left, r.withoutInstance([]any{m})...)
		default:
			left = append(left, raw)
		}
	}
	return left
}

// redactPlan removes the instance from a Plan and from its record. It returns nothing if nothing is left of the Plan.
func (r *redaction) redactPlan(m jsonval.Object) []any {
	raw, ok := turn.FilterPlanRecord(m, r.otherTokens)
	if !ok {
		return nil
	}
	m = maps.Clone(jsonval.AsObject(raw))
	if calls, ok := m["plan"].([]any); ok {
		m["plan"] = r.redactCalls(calls)
	}
	return []any{m}
}

// redactCalls reduces the instance's Calls to their Tool, and removes the instance from the targets of shared Calls.
func (r *redaction) redactCalls(list []any) []any {
	left := slices.Clone(list)
	for n, raw := range left {
		call := ideafile.ParseWrittenCall(raw)
		if !slices.Contains(call.Targets, r.token) {
			continue
		}
		if len(call.Targets) == 1 {
			left[n] = jsonval.Object{"_tool": call.Tool, "_instance": r.token}
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(call.Targets), func(t string) bool { return t == r.token })
		shared := maps.Clone(jsonval.AsObject(raw))
		shared["_instance"] = jsonval.ToJSONValue(rest)
		left[n] = shared
	}
	return left
}

// mentionReason returns why a remaining text may reveal the instance; "" if it does not. The file's name and version do
// not count as its token, because they equal a short token by chance.
func (r *redaction) mentionReason(at texts.Place, text string) string {
	ofFile := at.Part == "meta.version" || at.Part == "meta.path"
	if text == r.token && at.Instance != r.token && !ofFile {
		return "names the instance"
	}
	if slices.ContainsFunc(r.needles, func(own texts.Needle) bool { return own.IsIn(text) }) {
		return "has a text of the instance"
	}
	return ""
}

// buildNeedles prepares the search for the collected texts.
func (r *redaction) buildNeedles() {
	for own, alone := range r.ownTexts {
		if alone {
			r.needles = append(r.needles, texts.NewNeedle(own))
		}
	}
}
