package harden

import (
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// paramSample is the value that one instance has in one place of a Call's parameters.
type paramSample struct {
	instance *instanceRun
	value    any
	request  int // of the Call: a literal may come from what Calls of earlier Requests wrote
}

// generalizeCalls gives every Call parameters that all instances have in common: the same literal, the same Reference,
// or a Reference that yields each instance's literal. A Call for which there are none is dropped.
func (h *hardener) generalizeCalls() {
	var kept []*commonCall
	for _, c := range h.calls {
		if h.generalizeCall(c) {
			kept = append(kept, c)
		}
	}
	h.calls = kept
	h.generalizeOutput()
}

func (h *hardener) generalizeCall(c *commonCall) bool {
	planned, _ := h.instancesByCall(c)
	ran := planned[:0:0]
	for _, r := range planned {
		if status := c.recordedByInstance[r].status; status == ideafile.Done || status == ideafile.Failed {
			ran = append(ran, r)
		}
	}
	if len(ran) == 0 {
		ran = planned
	}
	c.raw = map[string]any{"_tool": c.recordedByInstance[ran[0]].call.Tool}
	h.copyMetaProperties(c, ran[0])
	allCommon := true
	for _, name := range h.commonParams(c, ran) {
		var samples []paramSample
		for _, r := range ran {
			recorded := c.recordedByInstance[r]
			samples = append(samples, paramSample{r, recorded.call.Params[name], recorded.request})
		}
		value, ok := h.commonValue(c, jsonval.Path{name}, samples)
		c.raw[name] = value
		allCommon = allCommon && ok
	}
	return allCommon
}

// copyMetaProperties takes over where the result goes, as far as the Tool leaves this to its Calls.
func (h *hardener) copyMetaProperties(c *commonCall, r *instanceRun) {
	recorded := c.recordedByInstance[r]
	for _, k := range []string{"_outputPath", "_outputMethod", "_scopes"} {
		if recorded.raw[k] != nil {
			c.raw[k] = recorded.raw[k]
		}
	}
	tool := r.process.lastIdea.Tool(recorded.call.Tool)
	if len(recorded.call.OutputPath) > 0 && !(tool.OutputPath.Declared && tool.OutputPath.Schema == nil) {
		c.raw["_outputPath"] = recorded.call.OutputPath.Reference()
	}
	if recorded.call.HasOutput || h.bindings[recorded.call.Tool].Kind == ideafile.KindLatent {
		planned, _ := h.instancesByCall(c)
		h.addNotGeneralized(planned, "%s: the tool has no code, the LLM writes its result", c)
	}
}

// commonParams lists the parameters that the Call has in every instance, without wired ones. Those that it has in some
// instances only are recorded as differences.
func (h *hardener) commonParams(c *commonCall, ran []*instanceRun) []string {
	tool := ran[0].process.lastIdea.Tool(c.recordedByInstance[ran[0]].call.Tool)
	count := map[string]int{}
	for _, r := range ran {
		//workflowcheck:ignore -- only counts
		for k := range c.recordedByInstance[r].call.Params {
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
		var given []*instanceRun
		for _, r := range ran {
			if _, ok := c.recordedByInstance[r].call.Params[k]; ok {
				given = append(given, r)
			}
		}
		h.addNotGeneralized(given, "%s: parameter %q is given in some instances alone", c, k)
	}
	return names
}

// commonValue returns one value that yields the values of all samples. ok is false, and the difference recorded, where
// there is none.
func (h *hardener) commonValue(c *commonCall, param jsonval.Path, samples []paramSample) (v any, ok bool) {
	if allEqual(samples) {
		return h.constantValue(c, param, samples), true
	}
	if ref, ok := sharedReference(samples); ok {
		return ref, true
	}
	if !anyReference(samples) {
		switch places := h.commonPlaces(param, samples, true); {
		case len(places) == 1:
			return places[0].String(), true
		case len(places) > 1:
			h.addNotGeneralized(sampleInstances(samples), "%s: parameter %q is in every instance what stands at %s, and it cannot be told which is meant",
				c, param.String(), joinPlaces(places))
			return nil, false
		}
	}
	if v, ok, tried := h.commonParts(c, param, samples); tried {
		return v, ok
	}
	h.addNotGeneralized(outlierInstances(samples), "%s: parameter %q differs, and nothing at the start tells how", c, param.String())
	return nil, false
}

// commonParts generalizes objects with the same keys, and lists of the same length, part by part.
func (h *hardener) commonParts(c *commonCall, param jsonval.Path, samples []paramSample) (v any, ok, tried bool) {
	steps, isList, ok := sameShape(samples)
	if !ok {
		return nil, false, false
	}
	object, list, allCommon := map[string]any{}, []any{}, true
	for _, step := range steps {
		partSamples := make([]paramSample, len(samples))
		for n, sample := range samples {
			part, _ := jsonval.StepInto(sample.value, step)
			partSamples[n] = paramSample{sample.instance, part, sample.request}
		}
		v, ok := h.commonValue(c, append(param[:len(param):len(param)], step), partSamples)
		allCommon = allCommon && ok
		object[step], list = v, append(list, v)
	}
	if isList {
		return list, allCommon, true
	}
	return object, allCommon, true
}

// sameShape lists the keys of objects with the same keys, or the indexes of lists of the same length.
func sameShape(samples []paramSample) (steps []string, isList, ok bool) {
	for n, sample := range samples {
		var own []string
		switch v := sample.value.(type) {
		case map[string]any:
			own = jsonval.SortedKeys(v)
		case []any:
			isList = true
			for k := range v {
				own = append(own, indexStep(k))
			}
		default:
			return nil, false, false
		}
		if n > 0 && (strings.Join(own, "\x00") != strings.Join(steps, "\x00") || jsonval.TypeOf(sample.value) != jsonval.TypeOf(samples[0].value)) {
			return nil, false, false
		}
		steps = own
	}
	return steps, isList, len(steps) > 0
}

// constantValue generalizes a value that is the same in all instances. Where it is found at exactly one place at the
// start and that is unlikely to be a coincidence, it becomes a Reference to that place.
func (h *hardener) constantValue(c *commonCall, param jsonval.Path, samples []paramSample) any {
	v := samples[0].value
	if text, ok := v.(string); ok && refexpr.IsReference(text) {
		return v
	}
	if refs, _ := refexpr.References(v); len(refs) == 0 {
		places := h.commonPlaces(param, samples, false)
		switch {
		case len(places) == 1 && (isDistinctive(v) || endsInNameOf(places[0], param)):
			return places[0].String()
		case len(places) > 1 && isDistinctive(v):
			h.addNotGeneralized(nil, "%s: parameter %q is always %s, which stands at %s, and it cannot be told which is meant",
				c, param.String(), jsonval.Clip(string(jsonval.Encode(v)), 60), joinPlaces(places))
			return v
		}
	}
	switch v.(type) {
	case map[string]any, []any:
		if v, ok, tried := h.commonParts(c, param, samples); tried && ok {
			return v
		}
	}
	return v
}

// isDistinctive reports whether a value is unlikely to occur in two places by coincidence.
func isDistinctive(v any) bool {
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

func endsInNameOf(r refexpr.Reference, param jsonval.Path) bool {
	return len(r.Path) > 0 && len(param) > 0 && r.Path[len(r.Path)-1] == param[len(param)-1]
}

// sharedReference finds a Reference, used by some instances, that yields the value of every instance.
func sharedReference(samples []paramSample) (any, bool) {
	tried := map[string]bool{}
	for _, sample := range samples {
		text, ok := sample.value.(string)
		if !ok || !refexpr.IsReference(text) || tried[text] {
			continue
		}
		tried[text] = true
		if resolvesForAll(text, samples) {
			return text, true
		}
	}
	return nil, false
}

func resolvesForAll(ref string, samples []paramSample) bool {
	for _, sample := range samples {
		want, ok := sample.instance.resolve(sample.value)
		got, present := sample.instance.resolve(ref)
		if sample.value != any(ref) && (!ok || !present || !jsonval.Equal(want, got)) {
			return false
		}
	}
	return true
}

// resolve resolves the References in a value against the start of the instance and its final State.
func (r *instanceRun) resolve(v any) (any, bool) {
	out, err := refexpr.Resolve(v, func(ref refexpr.Reference) (any, bool) {
		if ref.Kind == ideafile.TypeState {
			return jsonval.Lookup(r.finalState, ref.Path)
		}
		return jsonval.Lookup(r.startView.Payload[ref.Kind], ref.Path)
	})
	return out, err == nil
}

func allEqual(samples []paramSample) bool {
	for _, sample := range samples[1:] {
		if !jsonval.Equal(sample.value, samples[0].value) {
			return false
		}
	}
	return true
}

func anyReference(samples []paramSample) bool {
	for _, sample := range samples {
		if refs, err := refexpr.References(sample.value); err != nil || len(refs) > 0 {
			return true
		}
	}
	return false
}

func sampleInstances(samples []paramSample) []*instanceRun {
	var instances []*instanceRun
	for _, sample := range samples {
		instances = append(instances, sample.instance)
	}
	return instances
}

// outlierInstances lists the instances whose value is not the most common one.
func outlierInstances(samples []paramSample) []*instanceRun {
	count, mostCommon := map[string]int{}, ""
	for _, sample := range samples {
		count[string(jsonval.Encode(sample.value))]++
	}
	for _, text := range jsonval.SortedKeys(count) {
		if mostCommon == "" || count[text] > count[mostCommon] {
			mostCommon = text
		}
	}
	var instances []*instanceRun
	for _, sample := range samples {
		if count[mostCommon] == 1 || string(jsonval.Encode(sample.value)) != mostCommon {
			instances = append(instances, sample.instance)
		}
	}
	return instances
}

func joinPlaces(places []refexpr.Reference) string {
	var names []string
	for _, p := range places {
		names = append(names, p.String())
	}
	return strings.Join(names, " and at ")
}
