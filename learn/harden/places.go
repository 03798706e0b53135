package harden

import (
	"slices"
	"strconv"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// childSteps lists the keys of an object, in order, or the indexes of a list.
func childSteps(v any) (steps []string) {
	switch v := v.(type) {
	case jsonval.Object:
		return jsonval.SortedKeys(v)
	case []any:
		for n := range v {
			steps = append(steps, strconv.Itoa(n))
		}
	}
	return steps
}

// valueAtStart is the value that an instance had at a place when it started.
func (r *instanceRun) valueAtStart(ref refexpr.Reference) (any, bool) {
	return jsonval.ValueAt(r.startView.PayloadByKind[ref.Kind], ref.Path)
}

// maxTrackedReferences bounds how many places of one literal are tracked.
const maxTrackedReferences = 64

// maxLiteralDepth bounds how deep in the data a literal is searched for.
const maxLiteralDepth = 32

// commonReferences lists the References that yield each instance's literal: in the data at the start, or else in what
// Calls of earlier Requests wrote. If exactly one of several ends in the parameter's name, only that one is returned.
func commonReferences(paramPath jsonval.Path, samples []paramSample) []refexpr.Reference {
	references := keepMatchingInAllSamples(samples[0].referencesToLiteralAtStart(), samples, paramSample.valueAtStart)
	if len(references) == 0 {
		finalState := jsonval.Object{ideafile.TypeState: samples[0].instance.finalState}
		references = keepMatchingInAllSamples(samples[0].referencesToLiteral(finalState), samples,
			paramSample.valueWrittenBefore)
	}
	sameNameReferences := jsonval.Filter(references, func(ref refexpr.Reference) bool {
		return endsWithParamName(ref,
			paramPath)
	})
	if len(sameNameReferences) == 1 {
		return sameNameReferences
	}
	return references
}

func (s paramSample) valueAtStart(ref refexpr.Reference) (any, bool) {
	return s.instance.valueAtStart(ref)
}

// valueWrittenBefore is the value at a place that Calls of earlier Requests wrote.
func (s paramSample) valueWrittenBefore(ref refexpr.Reference) (any, bool) {
	value, ok := jsonval.ValueAt(s.instance.finalState, ref.Path)
	return value, ok && s.instance.wroteBeforeRequest(ref.Path, s.requestNumber)
}

// referencesToLiteralAtStart lists the places where an instance had the sample's literal when it started.
func (s paramSample) referencesToLiteralAtStart() []refexpr.Reference {
	return s.referencesToLiteral(s.instance.startView.PayloadByKind)
}

// referencesToLiteral lists the places in some data that have the sample's literal.
func (s paramSample) referencesToLiteral(payloadByKind jsonval.Object) (found []refexpr.Reference) {
	if literal, ok := s.instance.resolveReferences(s.value); ok {
		for kind, v := range jsonval.Sorted(payloadByKind) {
			found = appendReferencesToLiteral(found, refexpr.Reference{Kind: kind}, v, literal)
		}
	}
	return found
}

// pathPassesThroughList reports whether a Reference leads through an element of a list, where another input may have
// other elements.
func pathPassesThroughList(r *instanceRun, ref refexpr.Reference) bool {
	data := r.startView.PayloadByKind[ref.Kind]
	if ref.Kind == ideafile.TypeState {
		data = r.finalState
	}
	for _, step := range ref.Path {
		if jsonval.TypeOf(data) == "array" {
			return true
		}
		data, _ = jsonval.ChildValue(data, step)
	}
	return false
}

// appendReferencesToLiteral adds the places below the given one at which a container has the literal, at most
// maxTrackedReferences.
func appendReferencesToLiteral(references []refexpr.Reference, parent refexpr.Reference, container,
	literal any) []refexpr.Reference {
	if len(references) >= maxTrackedReferences || len(parent.Path) > maxLiteralDepth {
		return references
	}
	if len(parent.Path) > 0 && jsonval.TypeOf(container) == jsonval.TypeOf(literal) &&
		jsonval.EqualNumerically(container, literal) {
		return append(references, parent)
	}
	for _, step := range childSteps(container) {
		v, _ := jsonval.ChildValue(container, step)
		path := parent.Path.WithStep(step)
		references = appendReferencesToLiteral(references, refexpr.Reference{Kind: parent.Kind, Path: path}, v, literal)
	}
	return references
}

// keepMatchingInAllSamples keeps the places at which every instance has its own literal.
func keepMatchingInAllSamples(references []refexpr.Reference, samples []paramSample,
	lookup func(paramSample, refexpr.Reference) (any, bool)) []refexpr.Reference {
	return slices.DeleteFunc(references, func(ref refexpr.Reference) bool {
		return slices.ContainsFunc(samples, func(sample paramSample) bool {
			expected, ok := sample.instance.resolveReferences(sample.value)
			v, isPresent := lookup(sample, ref)
			return !ok || !isPresent || !jsonval.EqualNumerically(v, expected)
		})
	})
}

// wroteBeforeRequest reports whether a Call of an earlier Request wrote the value at a path.
func (r *instanceRun) wroteBeforeRequest(p jsonval.Path, requestNumber int) bool {
	for _, pastCall := range r.recordedCalls {
		for _, q := range pastCall.parsedCall.OutputPath.Paths() {
			if pastCall.Status == ideafile.CallDone && pastCall.Key.Request < requestNumber && p.IsAtOrBelow(q) {
				return true
			}
		}
	}
	return false
}
