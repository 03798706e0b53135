package desk

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"processidea/client"
	"processidea/client/readable"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// newOriginLookup returns a function that says where a value of a Call's parameters comes from: wired by the Tool's
// designer, or found in the instance's input or State.
func newOriginLookup(wiring map[string]string, a client.Approval,
	presenter *shown.Presenter) func(path jsonval.Path, v any) string {
	placeByValue := map[string]string{}
	collectPlaces(placeByValue, "†input", presenter.InputFormat(), a.Input, 0)
	collectPlaces(placeByValue, "†state", presenter.StateFormat(), a.State, 0)
	return func(path jsonval.Path, v any) string {
		if len(path) == 1 && wiring[path[0]] != "" {
			return describeWiring(wiring[path[0]], presenter)
		}
		if key, ok := valueKey(v); ok && strings.TrimSpace(placeByValue[key]) != "" {
			return "the same as " + describePlace(placeByValue[key])
		}
		return ""
	}
}

// describeWiring describes what a Tool's designer wired: a Reference, or a value made from several. It returns "" if
// that reads something that only operators see, or nothing of the case.
func describeWiring(wiring string, presenter *shown.Presenter) string {
	refs, _ := refexpr.FindReferences(wiring)
	var places []string
	for _, ref := range refs {
		place, format, isCode := placeOf(ref.String(), presenter)
		if isCode || format.Display == shown.Hidden {
			return ""
		}
		places = append(places, place)
	}
	switch {
	case len(places) == 0:
		return ""
	case len(places) > 1:
		return "always made from several values of the case"
	case refexpr.IsTemplate(wiring):
		return "always made from " + places[0]
	}
	return "always " + places[0]
}

// placeOf describes the place of a Reference in words, and returns the format of its value. The format is hidden if a
// step on the way to the value is. isCode means that the Reference is no place in an instance's input or State; it is
// then returned unchanged.
func placeOf(reference string, presenter *shown.Presenter) (place string, format shown.Format, isCode bool) {
	ref, err := refexpr.ParseReference(reference)
	format, known := map[string]shown.Format{"input": presenter.InputFormat(),
		"state": presenter.StateFormat()}[ref.Kind]
	if err != nil || !known {
		return reference, shown.Format{}, true
	}
	kindKey := "†" + ref.Kind
	for _, step := range ref.Path {
		if kindKey, format = placeBelow(kindKey, format, step); kindKey == noSinglePlace {
			break
		}
	}
	return describePlace(kindKey), format, false
}

// describePlace describes a place in words: †input › order is “order” in what it began with.
func describePlace(place string) string {
	rootTexts := map[string]string{"†input": "all of what it began with", "†state": "all of what is known of it"}
	for start, whole := range rootTexts {
		if name, found := strings.CutPrefix(place, start+stepSeparator); found {
			return "“" + name + "” in " + strings.TrimPrefix(whole, "all of ")
		}
	}
	return cmp.Or(rootTexts[place], place)
}

// stepSeparator stands between the names that lead to a value.
const stepSeparator = " › "

// noSinglePlace marks a value that is at several places, or at one that only operators see.
const noSinglePlace = " "

// placeBelow returns the place of a member, and how the member is shown.
func placeBelow(parent string, f shown.Format, name string) (string, shown.Format) {
	title, member := f.MemberTitle(name), f.FormatAt(jsonval.Path{name})
	if n, err := strconv.Atoi(name); err == nil && f.Items != nil {
		title = strconv.Itoa(n + 1) // as pages number them
	}
	if parent == noSinglePlace || member.Display == shown.Hidden {
		return noSinglePlace, member
	}
	return parent + stepSeparator + clipName(title), member
}

// collectPlaces records the place of each value. A value at several places is marked: an equal value could come from
// any of them.
func collectPlaces(placeByValue map[string]string, place string, f shown.Format, v any, depth int) {
	const maxPlaces, maxDepth = 2000, 6
	if len(placeByValue) > maxPlaces || depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case jsonval.Object:
		for _, k := range jsonval.SortedKeys(v) {
			childPlace, format := placeBelow(place, f, k)
			collectPlaces(placeByValue, childPlace, format, v[k], depth+1)
		}
	case []any:
		for n, one := range v {
			childPlace := place
			if place != noSinglePlace {
				childPlace = place + stepSeparator + strconv.Itoa(n+1) // as pages number them
			}
			collectPlaces(placeByValue, childPlace, f.FormatAt(jsonval.Path{strconv.Itoa(n)}), one, depth+1)
		}
	}
	if key, isDistinctive := valueKey(v); isDistinctive {
		if placeByValue[key] != "" {
			place = noSinglePlace
		}
		placeByValue[key] = place
	}
}

// valueKey is the same for equal distinctive values; a short text or a single digit is not distinctive.
func valueKey(v any) (key string, isDistinctive bool) {
	switch v := v.(type) {
	case string:
		return "s" + v, len(v) > 2 && len(v) < readable.MaxTextBytes
	case json.Number:
		return "n" + v.String(), len(v) > 1
	}
	return "", false
}
