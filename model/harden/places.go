package harden

import (
	"strconv"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

func indexStep(n int) string { return strconv.Itoa(n) }

// maxPlaces bounds how many places of one literal are tracked.
const maxPlaces = 64

// commonPlaces lists the References that yield each instance's literal: in the data at the start, or else in what Calls of
// earlier Requests wrote. If exactly one of several ends in the parameter's name, only that one is returned. elements
// includes the elements of lists.
func (h *hardener) commonPlaces(param jsonval.Path, samples []paramSample, elements bool) []refexpr.Reference {
	literal, ok := samples[0].instance.resolve(samples[0].value)
	if !ok {
		return nil
	}
	var found []refexpr.Reference
	start := samples[0].instance.startView.Payload
	for _, kind := range jsonval.SortedKeys(start) {
		found = appendPlaces(found, refexpr.Reference{Kind: kind}, start[kind], literal, elements)
	}
	found = presentInAll(found, samples, func(sample paramSample, ref refexpr.Reference) (any, bool) {
		return jsonval.Lookup(sample.instance.startView.Payload[ref.Kind], ref.Path)
	})
	if len(found) == 0 {
		found = appendPlaces(nil, refexpr.Reference{Kind: ideafile.TypeState}, samples[0].instance.finalState, literal, elements)
		found = presentInAll(found, samples, func(sample paramSample, ref refexpr.Reference) (any, bool) {
			value, ok := jsonval.Lookup(sample.instance.finalState, ref.Path)
			return value, ok && sample.instance.wroteBefore(ref.Path, sample.request)
		})
	}
	var sameName []refexpr.Reference
	for _, ref := range found {
		if endsInNameOf(ref, param) {
			sameName = append(sameName, ref)
		}
	}
	if len(sameName) == 1 {
		return sameName
	}
	return found
}

// appendPlaces adds the places below the given one at which a container holds the literal, at most maxPlaces.
func appendPlaces(found []refexpr.Reference, place refexpr.Reference, container, literal any, elements bool) []refexpr.Reference {
	if len(found) >= maxPlaces || len(place.Path) > 12 {
		return found
	}
	if len(place.Path) > 0 && jsonval.TypeOf(container) == jsonval.TypeOf(literal) && jsonval.Equal(container, literal) {
		return append(found, place)
	}
	below := func(step string, v any) {
		path := append(place.Path[:len(place.Path):len(place.Path)], step)
		found = appendPlaces(found, refexpr.Reference{Kind: place.Kind, Path: path}, v, literal, elements)
	}
	switch container := container.(type) {
	case map[string]any:
		for _, k := range jsonval.SortedKeys(container) {
			below(k, container[k])
		}
	case []any:
		for n := range container {
			if elements {
				below(indexStep(n), container[n])
			}
		}
	}
	return found
}

// presentInAll keeps the places that hold its own literal in every instance.
func presentInAll(found []refexpr.Reference, samples []paramSample, lookup func(paramSample, refexpr.Reference) (any, bool)) []refexpr.Reference {
	var out []refexpr.Reference
	for _, ref := range found {
		inAll := true
		for _, sample := range samples {
			want, ok := sample.instance.resolve(sample.value)
			v, present := lookup(sample, ref)
			inAll = ok && present && jsonval.Equal(v, want)
			if !inAll {
				break
			}
		}
		if inAll {
			out = append(out, ref)
		}
	}
	return out
}

// wroteBefore reports whether a Call of an earlier Request wrote the value at a path.
func (r *instanceRun) wroteBefore(p jsonval.Path, request int) bool {
	for _, recorded := range r.recordedCalls {
		for _, q := range recorded.call.OutputPath.Paths() {
			if recorded.status == ideafile.Done && recorded.request < request && p.Within(q) {
				return true
			}
		}
	}
	return false
}
