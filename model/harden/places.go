package harden

import (
	"strconv"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// This file finds the places at which instances have a literal.

func indexStep(n int) string { return strconv.Itoa(n) }

// mostPlaces bounds how many places of one literal are followed.
const mostPlaces = 64

// places lists where each instance has its literal: in what it began with, or else in what Calls of earlier Requests
// wrote. Of several, one that is named as the parameter counts alone. elements says whether elements of lists count.
func (h *hardener) places(at jsonval.Path, s []sample, elements bool) []refexpr.Reference {
	v, ok := s[0].run.resolved(s[0].v)
	if !ok {
		return nil
	}
	var found []refexpr.Reference
	start := s[0].run.start.Payload
	for _, kind := range jsonval.SortedKeys(start) {
		found = placesIn(found, refexpr.Reference{Kind: kind}, start[kind], v, elements)
	}
	found = everywhere(found, s, func(one sample, ref refexpr.Reference) (any, bool) {
		return jsonval.Lookup(one.run.start.Payload[ref.Kind], ref.Path)
	})
	if len(found) == 0 {
		found = placesIn(nil, refexpr.Reference{Kind: ideafile.TypeState}, s[0].run.final, v, elements)
		found = everywhere(found, s, func(one sample, ref refexpr.Reference) (any, bool) {
			w, ok := jsonval.Lookup(one.run.final, ref.Path)
			return w, ok && one.run.wroteBefore(ref.Path, one.at)
		})
	}
	var alike []refexpr.Reference
	for _, ref := range found {
		if namedAs(ref, at) {
			alike = append(alike, ref)
		}
	}
	if len(alike) == 1 {
		return alike
	}
	return found
}

func placesIn(found []refexpr.Reference, at refexpr.Reference, in, v any, elements bool) []refexpr.Reference {
	if len(found) >= mostPlaces || len(at.Path) > 12 {
		return found
	}
	if len(at.Path) > 0 && jsonval.TypeOf(in) == jsonval.TypeOf(v) && jsonval.Equal(in, v) {
		return append(found, at)
	}
	switch in := in.(type) {
	case map[string]any:
		for _, k := range jsonval.SortedKeys(in) {
			found = placesIn(found, refexpr.Reference{Kind: at.Kind, Path: append(at.Path[:len(at.Path):len(at.Path)], k)}, in[k], v, elements)
		}
	case []any:
		for n := range in {
			if elements {
				found = placesIn(found, refexpr.Reference{Kind: at.Kind, Path: append(at.Path[:len(at.Path):len(at.Path)], indexStep(n))}, in[n], v, elements)
			}
		}
	}
	return found
}

// everywhere keeps the places at which every instance has its own literal.
func everywhere(found []refexpr.Reference, s []sample, look func(sample, refexpr.Reference) (any, bool)) []refexpr.Reference {
	var out []refexpr.Reference
	for _, ref := range found {
		all := true
		for _, one := range s {
			mine, ok := one.run.resolved(one.v)
			v, there := look(one, ref)
			if all = ok && there && jsonval.Equal(v, mine); !all {
				break
			}
		}
		if all {
			out = append(out, ref)
		}
	}
	return out
}

// wroteBefore says whether a Call of an earlier Request wrote what holds a path.
func (r *instanceRun) wroteBefore(p jsonval.Path, request int) bool {
	for _, t := range r.tries {
		for _, q := range t.call.OutputPath.Paths() {
			if t.status == ideafile.Done && t.request < request && p.Within(q) {
				return true
			}
		}
	}
	return false
}
