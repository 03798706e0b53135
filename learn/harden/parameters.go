package harden

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// paramSample is the value of one instance at one place of a Call's parameters.
type paramSample struct {
	instance      *instanceRun
	value         any
	requestNumber int // the Call's Request: a literal may come from what earlier Requests' Calls wrote
}

func (s paramSample) isOfDirectPlan() bool { return s.requestNumber == 0 }

// generalizeCalls gives every Call parameters that all instances have in common: the same literal, the same Reference,
// or a Reference that yields each instance's literal. A Call without such parameters is divided into variants, or
// dropped.
func (h *hardener) generalizeCalls() {
	var remaining []*mergedCall
	for _, c := range h.mergedCalls {
		differenceCountBefore, noteCountBefore := len(h.differences), len(h.notes)
		differingParams := h.generalizeCall(c)
		if len(differingParams) == 0 {
			remaining = append(remaining, c)
			continue
		}
		newDifferences, newNotes := h.differences[differenceCountBefore:], h.notes[noteCountBefore:]
		h.differences, h.notes = slices.Clone(h.differences[:differenceCountBefore]),
			slices.Clone(h.notes[:noteCountBefore])
		variants := h.splitByParams(c, differingParams)
		if len(variants) == 0 {
			h.differences, h.notes = append(h.differences[:differenceCountBefore], newDifferences...),
				append(h.notes[:noteCountBefore], newNotes...)
			if !c.hasDifferingParam(differingParams) {
				remaining = append(remaining, c)
			}
		}
		remaining = append(remaining, variants...)
	}
	h.mergedCalls = remaining
	h.generalizeOutput()
}

// generalizeCall writes a Call, and returns the parameters that differ between the instances.
func (h *hardener) generalizeCall(c *mergedCall) (differingParams []string) {
	ranInstances := h.instancesThatRanOrPlanned(c)
	c.rawCall = jsonval.Object{"_tool": c.pastCallByInstance[ranInstances[0]].parsedCall.Tool}
	h.copyMetaProperties(c, ranInstances[0])
	commonParamNames, differingParams := h.commonAndDifferingParams(c, ranInstances)
	for _, name := range commonParamNames {
		var samples []paramSample
		for _, r := range ranInstances {
			pastCall := c.pastCallByInstance[r]
			samples = append(samples, paramSample{r, pastCall.parsedCall.Params[name], pastCall.Key.Request})
		}
		value, ok := h.generalizeValue(paramLocation(c, jsonval.Path{name}), samples)
		c.rawCall[name] = value
		if !ok {
			differingParams = append(differingParams, name)
		}
	}
	return differingParams
}

// hasDifferingParam reports whether the Call has one of these differing parameters in all instances, though without a
// common value.
func (c *mergedCall) hasDifferingParam(paramNames []string) bool {
	return slices.ContainsFunc(paramNames, func(name string) bool {
		_, isGiven := c.rawCall[name]
		return isGiven
	})
}

// copyMetaProperties copies the meta properties that were chosen for a Call, and its output path unless the Tool fixes
// it. If the LLM writes the Call's result, it records that as a difference.
func (h *hardener) copyMetaProperties(c *mergedCall, r *instanceRun) {
	pastCall := c.pastCallByInstance[r]
	for _, k := range []string{"_after", "_outputPath", "_outputMethod", "_scopes"} {
		if pastCall.rawCall[k] != nil {
			c.rawCall[k] = pastCall.rawCall[k]
		}
	}
	tool := r.process.lastIdea.Tool(pastCall.parsedCall.Tool)
	if len(pastCall.parsedCall.OutputPath) > 0 && !(tool.OutputPath.IsDeclared && tool.OutputPath.Schema == nil) {
		c.rawCall["_outputPath"] = pastCall.parsedCall.OutputPath.ReferenceText()
	}
	if pastCall.parsedCall.HasLatentOutput || h.bindingByTool[pastCall.parsedCall.Tool].Kind == ideafile.KindLatent {
		planningInstances := h.instancesWithCall(c)
		h.addDifference(planningInstances,
			"what gives its result: name code as _activity in schema.tools."+pastCall.parsedCall.Tool+
				", or leave it to the LLM", "%s: the tool has no code, the LLM writes its result", c)
	}
}

// commonAndDifferingParams lists the parameters that the Call has in every instance, and the others that it has only in
// some, which it records as differences. It leaves out wired ones.
func (h *hardener) commonAndDifferingParams(c *mergedCall,
	ranInstances []*instanceRun) (commonNames, differingNames []string) {
	tool := ranInstances[0].process.lastIdea.Tool(c.pastCallByInstance[ranInstances[0]].parsedCall.Tool)
	instanceCountByParam := map[string]int{}
	for _, r := range ranInstances {
		//workflowcheck:ignore -- only counts
		for k := range c.pastCallByInstance[r].parsedCall.Params {
			if tool.WiredExpressionByParam[k] == "" {
				instanceCountByParam[k]++
			}
		}
	}
	for k, v := range jsonval.Sorted(instanceCountByParam) {
		if v == len(ranInstances) {
			commonNames = append(commonNames, k)
			continue
		}
		instancesWithParam := jsonval.Filter(ranInstances, func(r *instanceRun) bool {
			_, ok := c.pastCallByInstance[r].parsedCall.Params[k]
			return ok
		})
		h.addDifference(instancesWithParam, "whether it is always given: write it, or two Calls with _when",
			"%s: parameter %q is given in some instances alone", c, k)
		differingNames = append(differingNames, k)
	}
	return commonNames, differingNames
}

// generalizeValue returns one value that yields the values of all samples. If there is none, it records the difference,
// and ok is false.
func (h *hardener) generalizeValue(location valueLocation, samples []paramSample) (v any, ok bool) {
	if allSamplesEqual(samples) {
		return h.generalizeConstant(location, samples), true
	}
	if ref, ok := findSharedReference(samples); ok {
		return ref, true
	}
	if !anySampleIsReference(samples) {
		switch references := commonReferences(location.path, samples); {
		case len(references) == 1:
			if pathPassesThroughList(samples[0].instance, references[0]) {
				h.addNote("%s is %s, a fixed place in a list: an input with more or fewer elements needs another Plan",
					location, references[0])
			}
			return references[0].String(), true
		case len(references) > 1:
			h.addDifference(instancesOfSamples(samples), "which place is meant: write its Reference",
				"%s equals in every instance the values at %s: it is unclear which is meant",
				location, describeReferences(references))
			return nil, false
		}
	}
	if steps := commonChildSteps(samples); len(steps) > 0 {
		return h.generalizeMembers(location, samples, steps)
	}
	h.addDifference(outlierInstances(samples), "where it comes from: give it to instances at their start, or let "+
		"a Call write it, then write the Reference", "%s differs, and nothing at the start tells how", location)
	return nil, false
}

// generalizeMembers generalizes objects with the same keys, and lists of the same length, part by part.
func (h *hardener) generalizeMembers(location valueLocation, samples []paramSample,
	steps []string) (v any, areAllCommon bool) {
	object, list, areAllCommon := jsonval.Object{}, []any{}, true
	for _, step := range steps {
		memberSamples := make([]paramSample, len(samples))
		for n, sample := range samples {
			member, _ := jsonval.ChildValue(sample.value, step)
			memberSamples[n] = paramSample{sample.instance, member, sample.requestNumber}
		}
		v, ok := h.generalizeValue(valueLocation{location.ownerLabel, location.path.WithStep(step), location.call},
			memberSamples)
		areAllCommon = areAllCommon && ok
		object[step], list = v, append(list, v)
	}
	if _, isList := samples[0].value.([]any); isList {
		return list, areAllCommon
	}
	return object, areAllCommon
}

// commonChildSteps lists the keys of objects with the same keys, or the indexes of lists of the same length.
func commonChildSteps(samples []paramSample) []string {
	firstValue := samples[0].value
	steps := childSteps(firstValue)
	for _, sample := range samples {
		if jsonval.TypeOf(sample.value) != jsonval.TypeOf(firstValue) ||
			!slices.Equal(childSteps(sample.value), steps) {
			return nil
		}
	}
	return steps
}

// valueLocation identifies a value in a Call's parameters, or in the output.
type valueLocation struct {
	ownerLabel string
	path       jsonval.Path
	call       *mergedCall // nil: the output
}

const outputLabel = "the output "

func paramLocation(c *mergedCall, path jsonval.Path) valueLocation {
	return valueLocation{c.String() + ": parameter ", path, c}
}

func (p valueLocation) String() string {
	if len(p.path) == 0 {
		return strings.TrimSpace(p.ownerLabel)
	}
	return p.ownerLabel + strconv.Quote(p.path.String())
}

// generalizeConstant generalizes a value that is the same in all instances. A literal of a Plan that ran directly is
// intended, and stays. A value becomes a Reference if it is found at exactly one place at the start, not in a list, and
// that is unlikely to be a coincidence. Otherwise it stays, and is reported if it equals anything that was there.
func (h *hardener) generalizeConstant(location valueLocation, samples []paramSample) any {
	v := samples[0].value
	if text, ok := v.(string); ok && refexpr.IsExpressionOrTemplate(text) ||
		slices.ContainsFunc(samples, paramSample.isOfDirectPlan) {
		return v
	}
	if refs, _ := refexpr.FindReferences(v); len(refs) == 0 {
		references := commonReferences(location.path, samples)
		switch {
		case len(references) == 1 && !pathPassesThroughList(samples[0].instance, references[0]) &&
			(isUnlikelyCoincidence(v) || endsWithParamName(references[0], location.path)):
			h.addNote("taken for a Reference: %s was always %s, and is %s now", location, clippedJSON(v), references[0])
			return references[0].String()
		case len(references) > 0 && isUnlikelyCoincidence(v):
			h.addDifference(nil, "whether this value is meant, or a place: write the value or the Reference",
				"%s is always %s, which also stands at %s: it is unclear which is meant", location, clippedJSON(v),
				describeReferences(references))
			return v
		case len(references) > 0:
			h.addNote("not generalised: %s is always %s, which stands at %s too: it stays as it is", location,
				clippedJSON(v), describeReferences(references))
			return v
		}
		h.noteScatteredLiteral(location, samples)
	}
	if steps := commonChildSteps(samples); len(steps) > 0 {
		v, _ = h.generalizeMembers(location, samples, steps)
	}
	return v
}

// noteScatteredLiteral notes a literal that every instance had at the start, but each at another place.
func (h *hardener) noteScatteredLiteral(location valueLocation, samples []paramSample) {
	for _, sample := range samples {
		if len(sample.referencesToLiteralAtStart()) == 0 {
			return
		}
	}
	h.addNote("not generalised: %s is always %s, which every instance had at the start, but each at another place "+
		"(%s in %s): it stays as it is",
		location, clippedJSON(samples[0].value), samples[0].referencesToLiteralAtStart()[0],
		samples[0].instance.displayName)
}

// noteUnconfirmedLiterals notes which literals are taken for constants although only one instance shows them, or all
// started alike.
func (h *hardener) noteUnconfirmedLiterals() {
	if len(h.mergedCalls) > 0 && h.startedWithSameValues() {
		cause := "there is one instance"
		if len(h.instances) > 1 {
			cause = "all instances started alike"
		}
		h.addNote("%s: constants cannot be told from inputs. %s", cause, describeKeptLiterals(h.mergedCalls))
		return
	}
	for _, c := range h.mergedCalls {
		if planningInstances := h.instancesWithCall(c); len(planningInstances) == 1 && len(describeLiterals(c)) > 0 {
			h.addNote("%s was planned in %s alone: constants cannot be told from inputs. %s", c,
				planningInstances[0].displayName,
				describeKeptLiterals([]*mergedCall{c}))
		}
	}
}

// startedWithSameValues reports whether nothing differed between the instances at the start.
func (h *hardener) startedWithSameValues() bool {
	return !slices.ContainsFunc(h.instances, func(r *instanceRun) bool {
		return !jsonval.EqualNumerically(r.startView.PayloadByKind, h.instances[0].startView.PayloadByKind)
	})
}

// describeKeptLiterals names the literals that Calls keep.
func describeKeptLiterals(calls []*mergedCall) string {
	var list []string
	for _, c := range calls {
		list = append(list, describeLiterals(c)...)
	}
	if len(list) == 0 {
		return "No literal was kept"
	}
	return "Kept for every input: " + strings.Join(list, "; ")
}

// describeLiterals lists a Call's parameters, and parts of parameters, that contain no Reference.
func describeLiterals(c *mergedCall) (list []string) {
	var walk func(path jsonval.Path, v any)
	walk = func(path jsonval.Path, v any) {
		if refs, err := refexpr.FindReferences(v); err == nil && len(refs) == 0 {
			list = append(list, paramLocation(c, path).String()+" = "+clippedJSON(v))
			return
		}
		for _, step := range childSteps(v) {
			part, _ := jsonval.ChildValue(v, step)
			walk(path.WithStep(step), part)
		}
	}
	for k, v := range jsonval.Sorted(c.rawCall) {
		if !strings.HasPrefix(k, "_") {
			walk(jsonval.Path{k}, v)
		}
	}
	return list
}

func clippedJSON(v any) string { return jsonval.Clip(jsonval.EncodeToString(v), 60) }

// isUnlikelyCoincidence reports whether a value is unlikely to occur in two places by coincidence.
func isUnlikelyCoincidence(v any) bool {
	switch v := v.(type) {
	case string:
		return len([]rune(v)) > 1
	case jsonval.Object:
		return len(v) > 0
	case []any:
		return len(v) > 0
	case bool, nil:
		return false
	}
	return len(jsonval.Encode(v)) > 1
}

func endsWithParamName(r refexpr.Reference, paramPath jsonval.Path) bool {
	return len(r.Path) > 0 && len(paramPath) > 0 && r.Path[len(r.Path)-1] == paramPath[len(paramPath)-1]
}

// findSharedReference finds a Reference, used by some instances, that yields the value of every instance.
func findSharedReference(samples []paramSample) (any, bool) {
	isTried := map[string]bool{}
	for _, sample := range samples {
		text, ok := sample.value.(string)
		if !ok || !refexpr.IsExpressionOrTemplate(text) || isTried[text] {
			continue
		}
		isTried[text] = true
		if matchesAllSamples(text, samples) {
			return text, true
		}
	}
	return nil, false
}

func matchesAllSamples(ref string, samples []paramSample) bool {
	return !slices.ContainsFunc(samples, func(sample paramSample) bool {
		expected, ok := sample.instance.resolveReferences(sample.value)
		resolved, isPresent := sample.instance.resolveReferences(ref)
		return sample.value != any(ref) && (!ok || !isPresent || !jsonval.EqualNumerically(expected, resolved))
	})
}

// resolveReferences resolves the References in a value against the start of the instance and its final State.
func (r *instanceRun) resolveReferences(v any) (any, bool) {
	resolved, err := refexpr.ResolveReferences(v, func(ref refexpr.Reference) (any, bool) {
		if ref.Kind == ideafile.TypeState {
			return jsonval.ValueAt(r.finalState, ref.Path)
		}
		return r.valueAtStart(ref)
	})
	return resolved, err == nil
}

func allSamplesEqual(samples []paramSample) bool {
	return !slices.ContainsFunc(samples,
		func(sample paramSample) bool { return !jsonval.EqualNumerically(sample.value, samples[0].value) })
}

func anySampleIsReference(samples []paramSample) bool {
	return slices.ContainsFunc(samples, func(sample paramSample) bool {
		refs, err := refexpr.FindReferences(sample.value)
		return err != nil || len(refs) > 0
	})
}

func instancesOfSamples(samples []paramSample) []*instanceRun {
	return jsonval.Map(samples, func(sample paramSample) *instanceRun { return sample.instance })
}

// outlierInstances lists the instances whose value is not the most common one.
func outlierInstances(samples []paramSample) []*instanceRun {
	countByValue, mostCommon := map[string]int{}, ""
	for _, sample := range samples {
		countByValue[jsonval.EncodeToString(sample.value)]++
	}
	for text, v := range jsonval.Sorted(countByValue) {
		if mostCommon == "" || v > countByValue[mostCommon] {
			mostCommon = text
		}
	}
	return instancesOfSamples(jsonval.Filter(samples, func(sample paramSample) bool {
		return countByValue[mostCommon] == 1 || jsonval.EncodeToString(sample.value) != mostCommon
	}))
}

// describeReferences lists places. If there are many, it lists the first few and the number of the others.
func describeReferences(references []refexpr.Reference) string {
	const maxListedReferences = 4
	var names []string
	for n, p := range references {
		if n == maxListedReferences {
			names = append(names, fmt.Sprintf("%d more places", len(references)-n))
			break
		}
		names = append(names, p.String())
	}
	return strings.Join(names, " and at ")
}
