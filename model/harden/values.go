package harden

import (
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// This file finds what the parameters of a Call have in common over all instances: the same literal, the same Reference, or
// a Reference that stands for each one's literal.

// sample is what one instance has at one place of a Call.
type sample struct {
	run *instanceRun
	v   any
	at  int // the Request of the Call: what earlier ones wrote may be what its literals come from
}

// generalise gives every Call the form that all instances have in common. One that has none is left out, and so is who would
// read its result.
func (h *hardener) generalise() {
	var kept []*commonCall
	for _, c := range h.calls {
		if h.generaliseCall(c) {
			kept = append(kept, c)
		}
	}
	h.calls = kept
	h.generaliseOutput()
}

func (h *hardener) generaliseCall(c *commonCall) bool {
	with, _ := h.runsOf(c)
	ran := with[:0:0]
	for _, r := range with {
		if s := c.tries[r].status; s == ideafile.Done || s == ideafile.Failed {
			ran = append(ran, r)
		}
	}
	if len(ran) == 0 {
		ran = with
	}
	c.raw = map[string]any{"_tool": c.tries[ran[0]].call.Tool}
	h.meta(c, ran[0])
	good := true
	for _, name := range h.params(c, ran) {
		var samples []sample
		for _, r := range ran {
			t := c.tries[r]
			samples = append(samples, sample{r, t.call.Params[name], t.request})
		}
		v, ok := h.common(c, jsonval.Path{name}, samples)
		c.raw[name] = v
		good = good && ok
	}
	return good
}

// meta takes over where the result goes, as far as the Call may say it.
func (h *hardener) meta(c *commonCall, r *instanceRun) {
	t := c.tries[r]
	for _, k := range []string{"_outputPath", "_outputMethod", "_scopes"} {
		if t.raw[k] != nil {
			c.raw[k] = t.raw[k]
		}
	}
	tool := r.story.last.Tool(t.call.Tool)
	if len(t.call.OutputPath) > 0 && !(tool.OutputPath.Declared && tool.OutputPath.Schema == nil) {
		c.raw["_outputPath"] = t.call.OutputPath.Reference()
	}
	if t.call.HasOutput || h.bindings[t.call.Tool].Kind == ideafile.KindLatent {
		with, _ := h.runsOf(c)
		h.particular(with, "%s: the tool has no code, the LLM writes its result", c)
	}
}

// params lists the parameters of a Call, wired ones left out. One that only some instances gave is named.
func (h *hardener) params(c *commonCall, ran []*instanceRun) []string {
	tool := ran[0].story.last.Tool(c.tries[ran[0]].call.Tool)
	count := map[string]int{}
	for _, r := range ran {
		//workflowcheck:ignore -- counted
		for k := range c.tries[r].call.Params {
			if tool.WiredParams[k] == "" {
				count[k]++
			}
		}
	}
	var names []string
	for _, k := range jsonval.SortedKeys(count) {
		if count[k] == len(ran) {
			names = append(names, k)
			continue
		}
		var have []*instanceRun
		for _, r := range ran {
			if _, ok := c.tries[r].call.Params[k]; ok {
				have = append(have, r)
			}
		}
		h.particular(have, "%s: parameter %q is given in some instances alone", c, k)
	}
	return names
}

// common gives what stands for the values of all samples; ok is false where nothing does, which is then named.
func (h *hardener) common(c *commonCall, at jsonval.Path, s []sample) (v any, ok bool) {
	if same(s) {
		return h.constant(c, at, s), true
	}
	if ref, ok := sharedReference(s); ok {
		return ref, true
	}
	if !anyReference(s) {
		switch places := h.places(at, s, true); {
		case len(places) == 1:
			return places[0].String(), true
		case len(places) > 1:
			h.particular(runsOfSamples(s), "%s: parameter %q is in every instance what stands at %s, and it cannot be told which is meant",
				c, at.String(), orOf(places))
			return nil, false
		}
	}
	if v, ok, tried := h.inside(c, at, s); tried {
		return v, ok
	}
	h.particular(differing(s), "%s: parameter %q differs, and nothing at the start tells how", c, at.String())
	return nil, false
}

// inside generalises objects of the same keys and lists of the same length part by part.
func (h *hardener) inside(c *commonCall, at jsonval.Path, s []sample) (v any, ok, tried bool) {
	steps, isList, ok := sameShape(s)
	if !ok {
		return nil, false, false
	}
	object, list, good := map[string]any{}, []any{}, true
	for _, step := range steps {
		part := make([]sample, len(s))
		for n, one := range s {
			below, _ := jsonval.StepInto(one.v, step)
			part[n] = sample{one.run, below, one.at}
		}
		v, ok := h.common(c, append(at[:len(at):len(at)], step), part)
		good = good && ok
		object[step], list = v, append(list, v)
	}
	if isList {
		return list, good, true
	}
	return object, good, true
}

// sameShape lists the steps into values that are objects of the same keys, or lists of the same length.
func sameShape(s []sample) (steps []string, isList, ok bool) {
	for n, one := range s {
		var mine []string
		switch v := one.v.(type) {
		case map[string]any:
			mine = jsonval.SortedKeys(v)
		case []any:
			isList = true
			for k := range v {
				mine = append(mine, indexStep(k))
			}
		default:
			return nil, false, false
		}
		if n > 0 && (strings.Join(mine, "\x00") != strings.Join(steps, "\x00") || jsonval.TypeOf(one.v) != jsonval.TypeOf(s[0].v)) {
			return nil, false, false
		}
		steps = mine
	}
	return steps, isList, len(steps) > 0
}

// constant is what all instances have alike: a literal that stands at one place at the start, and is more than a plain
// number or flag, is read from there.
func (h *hardener) constant(c *commonCall, at jsonval.Path, s []sample) any {
	v := s[0].v
	if text, ok := v.(string); ok && refexpr.IsReference(text) {
		return v
	}
	if refs, _ := refexpr.References(v); len(refs) == 0 {
		places := h.places(at, s, false)
		switch {
		case len(places) == 1 && (telling(v) || namedAs(places[0], at)):
			return places[0].String()
		case len(places) > 1 && telling(v):
			h.particular(nil, "%s: parameter %q is always %s, which stands at %s, and it cannot be told which is meant",
				c, at.String(), jsonval.Clip(string(jsonval.Encode(v)), 60), orOf(places))
			return v
		}
	}
	switch v.(type) {
	case map[string]any, []any:
		if v, ok, tried := h.inside(c, at, s); tried && ok {
			return v
		}
	}
	return v
}

// telling says whether a value is unlikely to stand somewhere by chance.
func telling(v any) bool {
	switch v := v.(type) {
	case string:
		return len([]rune(v)) > 1
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	case bool, nil:
		return false
	}
	return len(jsonval.Encode(v)) > 1
}

func namedAs(r refexpr.Reference, at jsonval.Path) bool {
	return len(r.Path) > 0 && len(at) > 0 && r.Path[len(r.Path)-1] == at[len(at)-1]
}

// sharedReference finds, where some instances have a Reference, one that stands for the value of each.
func sharedReference(s []sample) (any, bool) {
	tried := map[string]bool{}
	for _, one := range s {
		text, ok := one.v.(string)
		if !ok || !refexpr.IsReference(text) || tried[text] {
			continue
		}
		tried[text] = true
		if standsForAll(text, s) {
			return text, true
		}
	}
	return nil, false
}

func standsForAll(ref string, s []sample) bool {
	for _, one := range s {
		mine, ok := one.run.resolved(one.v)
		theirs, there := one.run.resolved(ref)
		if one.v != any(ref) && (!ok || !there || !jsonval.Equal(mine, theirs)) {
			return false
		}
	}
	return true
}

// resolved is what a value with References stands for at the end of an instance.
func (r *instanceRun) resolved(v any) (any, bool) {
	out, err := refexpr.Resolve(v, func(ref refexpr.Reference) (any, bool) {
		if ref.Kind == ideafile.TypeState {
			return jsonval.Lookup(r.final, ref.Path)
		}
		return jsonval.Lookup(r.start.Payload[ref.Kind], ref.Path)
	})
	return out, err == nil
}

func same(s []sample) bool {
	for _, one := range s[1:] {
		if !jsonval.Equal(one.v, s[0].v) {
			return false
		}
	}
	return true
}

func anyReference(s []sample) bool {
	for _, one := range s {
		if refs, err := refexpr.References(one.v); err != nil || len(refs) > 0 {
			return true
		}
	}
	return false
}

func runsOfSamples(s []sample) []*instanceRun {
	var runs []*instanceRun
	for _, one := range s {
		runs = append(runs, one.run)
	}
	return runs
}

// differing lists the instances whose value is not the most common one.
func differing(s []sample) []*instanceRun {
	count, most := map[string]int{}, ""
	for _, one := range s {
		count[string(jsonval.Encode(one.v))]++
	}
	for _, text := range jsonval.SortedKeys(count) {
		if most == "" || count[text] > count[most] {
			most = text
		}
	}
	var runs []*instanceRun
	for _, one := range s {
		if count[most] == 1 || string(jsonval.Encode(one.v)) != most {
			runs = append(runs, one.run)
		}
	}
	return runs
}

func orOf(places []refexpr.Reference) string {
	var names []string
	for _, p := range places {
		names = append(names, p.String())
	}
	return strings.Join(names, " and at ")
}
