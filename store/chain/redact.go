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
	instanceToken       string
	otherInstanceTokens []string  // the tokens of all other instances
	alreadyRedacted     bool      // an Idea records that the instance was removed before
	recordedMentions    []Mention // the places that this record names
	// isOnlyInInstanceByText are texts of the instance; the value is false if a text occurs outside of the instance
	// too.
	isOnlyInInstanceByText map[string]bool
	needles                []texts.Needle // for texts that only the instance has; built once all Ideas are read
}

// maxInstanceTexts bounds how many texts of the instance are searched for in what remains. Texts shorter than
// minTextLength are not searched for.
const (
	maxInstanceTexts = 500
	minTextLength    = 4
)

// collectTexts collects the texts that only the instance has in an Idea. hasInstance reports whether the Idea has the
// instance.
func (r *redaction) collectTexts(m *manifest, body jsonval.Object) (hasInstance bool) {
	if record := m.forgottenInstance(); record.Instance == r.instanceToken {
		r.alreadyRedacted, r.recordedMentions = true, append(r.recordedMentions, record.Mentions...)
	}
	splitContext := ideafile.SplitContextByInstance(body["context"])
	ownMessages := splitContext.MessagesByInstance[r.instanceToken]
	isStub := len(ownMessages) == 1 && jsonval.Equal(ownMessages[0].Source, r.messageStub())
	if hasInstance = len(ownMessages) > 0 && !isStub; hasInstance {
		for _, m := range ownMessages {
			r.addTexts(m.Payload, true)
		}
	}
	for _, token := range splitContext.InstanceTokens {
		if token == r.instanceToken {
			continue
		}
		r.otherInstanceTokens = jsonval.AppendNew(r.otherInstanceTokens, token)
		for _, m := range splitContext.MessagesByInstance[token] {
			r.addTexts(m.Payload, false)
		}
	}
	for _, m := range splitContext.SharedMessages {
		if m.Type != ideafile.TypePlan && m.Type != ideafile.TypeError {
			r.addTexts(m.Source, false)
		}
	}
	return hasInstance
}

func (r *redaction) addTexts(v any, isOfInstance bool) {
	addText := func(_ texts.Place, text string) {
		_, isListed := r.isOnlyInInstanceByText[text]
		switch {
		case !isOfInstance && isListed:
			r.isOnlyInInstanceByText[text] = false
		case isOfInstance && !isListed && len([]rune(text)) >= minTextLength &&
			len(r.isOnlyInInstanceByText) < maxInstanceTexts:
			r.isOnlyInInstanceByText[text] = true
		}
	}
	_ = texts.Walker{OnText: addText}.WalkValue(v, texts.Place{}) // nothing is loaded, and nothing fails
}

func (r *redaction) redactContent(d ideaContent) ideaContent {
	redactedContent := ideaContent{meta: maps.Clone(d.meta), body: maps.Clone(d.body), log: d.log}
	if list, ok := d.body["context"].([]any); ok {
		redactedContent.body["context"] = r.redactMessages(list)
	}
	if solution, ok := d.body["solution"].(jsonval.Object); ok {
		solution = maps.Clone(solution)
		if calls, ok := solution["calls"].([]any); ok {
			solution["calls"] = r.redactCalls(calls)
		}
		redactedContent.body["solution"] = solution
	}
	for _, key := range []string{"decisions", turn.EndedByRequestMetaKey} {
		if list, ok := d.meta[key].([]any); ok {
			redactedContent.meta[key] = r.removeInstance(list)
		}
	}
	if log, ok := d.log.([]any); ok {
		redactedContent.log = r.removeInstance(log)
		redactedContent.meta["log"] = digestOf(redactedContent.log)
	}
	return redactedContent
}

// removeInstance removes from a list the instance's token, and entries that concern only the instance or one of its
// Calls.
func (r *redaction) removeInstance(list []any) []any {
	remaining := []any{}
	for _, e := range list {
		m := jsonval.AsObject(e)
		if instances, ok := m["instances"].([]any); ok && slices.Contains(instances, any(r.instanceToken)) {
			otherInstances := r.removeInstance(instances)
			if len(otherInstances) == 0 {
				continue
			}
			m = maps.Clone(m)
			m["instances"], e = otherInstances, m
		}
		if e != r.instanceToken && m["instance"] != r.instanceToken && !r.isCallOfInstance(jsonval.AsText(m["call"])) {
			remaining = append(remaining, e)
		}
	}
	return remaining
}

func (r *redaction) isCallOfInstance(id string) bool {
	return ideafile.InstanceTokenOfCallID(id) == r.instanceToken
}

// messageStub is the Message that replaces the instance's Messages.
func (r *redaction) messageStub() jsonval.Object {
	return jsonval.Object{"type": ideafile.TypeState, "_instance": r.instanceToken, "state": jsonval.Object{},
		ideafile.InstanceStatusKey: string(ideafile.InstanceSettled)}
}

func (r *redaction) redactMessages(list []any) []any {
	redactedMessages, hasStub := []any{}, false
	for _, raw := range list {
		m := jsonval.AsObject(raw)
		switch {
		case m["_instance"] == r.instanceToken && !hasStub:
			hasStub = true
			redactedMessages = append(redactedMessages, r.messageStub())
		case m["_instance"] == r.instanceToken:
		case m["type"] == ideafile.TypePlan:
			redactedMessages = append(redactedMessages, r.redactPlan(m)...)
		case m["type"] == ideafile.TypeError:
			redactedMessages = append(redactedMessages, r.removeInstance([]any{m})...)
		default:
			redactedMessages = append(redactedMessages, raw)
		}
	}
	return redactedMessages
}

// redactPlan removes the instance from a Plan and from its record. It returns nothing if nothing is left of the Plan.
func (r *redaction) redactPlan(m jsonval.Object) []any {
	raw, ok := turn.FilterPlanRecord(m, r.otherInstanceTokens)
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
	redactedCalls := slices.Clone(list)
	for n, raw := range redactedCalls {
		call := ideafile.ParseWrittenCall(raw)
		if !slices.Contains(call.TargetTokens, r.instanceToken) {
			continue
		}
		if len(call.TargetTokens) == 1 {
			redactedCalls[n] = jsonval.Object{"_tool": call.Tool, "_instance": r.instanceToken}
			continue
		}
		otherTargets := slices.DeleteFunc(slices.Clone(call.TargetTokens),
			func(t string) bool { return t == r.instanceToken })
		sharedCall := maps.Clone(jsonval.AsObject(raw))
		sharedCall["_instance"] = jsonval.ToJSONValue(otherTargets)
		redactedCalls[n] = sharedCall
	}
	return redactedCalls
}

// mentionReason returns why a remaining text may reveal the instance; "" if it does not. The file's name and version do
// not count as its token, because they equal a short token by chance.
func (r *redaction) mentionReason(place texts.Place, text string) string {
	isFileMeta := place.Path == "meta.version" || place.Path == "meta.path"
	if text == r.instanceToken && place.InstanceToken != r.instanceToken && !isFileMeta {
		return "names the instance"
	}
	if slices.ContainsFunc(r.needles, func(needle texts.Needle) bool { return needle.IsIn(text) }) {
		return "has a text of the instance"
	}
	return ""
}

// buildNeedles prepares the search for the collected texts.
func (r *redaction) buildNeedles() {
	for text, isOnlyInInstance := range r.isOnlyInInstanceByText {
		if isOnlyInInstance {
			r.needles = append(r.needles, texts.NewNeedle(text))
		}
	}
}
