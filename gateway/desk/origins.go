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

// origins returns a function that says where a value of a Call's parameters comes from: wired by the Tool's designer,
// or found in the instance's input or State.
func origins(wired map[string]string, a client.Approval, words *shown.Words) func(path jsonval.Path, v any) string {
	places := map[string]string{}
	collectPlaces(places, "†input", words.InputFormat(), a.Input, 0)
	collectPlaces(places, "†state", words.StateFormat(), a.State, 0)
	return func(path jsonval.Path, v any) string {
		if len(path) == 1 && wired[path[0]] != "" {
			return describeWired(wired[path[0]], words)
		}
		if key, is := placeKey(v); is && strings.TrimSpace(places[key]) != "" {
			return "the same as " + describePlace(places[key])
		}
		return ""
	}
}

// describeWired describes what a Tool's designer wired: a Reference, or a value made from several. It returns "" if
// that reads something that only operators see, or nothing of the case.
func describeWired(wired string, words *shown.Words) string {
	refs, _ := refexpr.FindReferences(wired)
	var said []string
	for _, ref := range refs {
		place, format, isCode := placeOf(ref.String(), words)
		if isCode || format.Display == shown.Hidden {
			return ""
		}
		said = append(said, place)
	}
	switch {
	case len(said) == 0:
		return ""
	case len(said) > 1:
		return "always made from several values of the case"
	case refexpr.IsTemplate(wired):
		return "always made from " + said[0]
	}
	return "always " + said[0]
}

// placeOf describes the place of a Reference in words, and returns the format of its value. The format is hidden if a
// step on the way to the value is. isCode means that the Reference is no place in an instance's input or State; it is
// then returned unchanged.
func placeOf(reference string, words *shown.Words) (place string, format shown.Format, isCode bool) {
	ref, err := refexpr.ParseReference(reference)
	format, known := map[string]shown.Format{"input": words.InputFormat(), "state": words.StateFormat()}[ref.Kind]
	if err != nil || !known {
		return reference, shown.Format{}, true
	}
	at := "†" + ref.Kind
	for _, step := range ref.Path {
		if at, format = placeBelow(at, format, step); at == noSinglePlace {
			break
		}
	}
	return describePlace(at), format, false
}

// describePlace describes a place in words: †input › order is “order” in what it began with.
func describePlace(place string) string {
	wholes := map[string]string{"†input": "all of what it began with", "†state": "all of what is known of it"}
	for start, whole := range wholes {
		if name, is := strings.CutPrefix(place, start+stepMark); is {
			return "“" + name + "” in " + strings.TrimPrefix(whole, "all of ")
		}
	}
	return cmp.Or(wholes[place], place)
}

// stepMark stands between the names that lead to a value.
const stepMark = " › "

// noSinglePlace marks a value that is at several places, or at one that only operators see.
const noSinglePlace = " "

// placeBelow returns the place of a member, and how the member is shown.
func placeBelow(at string, f shown.Format, name string) (string, shown.Format) {
	title, member := f.NameOf(name), f.At(jsonval.Path{name})
	if n, err := strconv.Atoi(name); err == nil && f.Items != nil {
		title = strconv.Itoa(n + 1) // as pages number them
	}
	if at == noSinglePlace || member.Display == shown.Hidden {
		return noSinglePlace, member
	}
	return at + stepMark + clipName(title), member
}

// collectPlaces records the place of each value. A value at several places is marked: an equal value could come from
// any of them.
func collectPlaces(places map[string]string, at string, f shown.Format, v any, depth int) {
	const maxPlaces, deepest = 2000, 6
	if len(places) > maxPlaces || depth > deepest {
		return
	}
	switch v := v.(type) {
	case jsonval.Object:
		for _, k := range jsonval.SortedKeys(v) {
			below, format := placeBelow(at, f, k)
			collectPlaces(places, below, format, v[k], depth+1)
		}
	case []any:
		for n, one := range v {
			below := at
			if at != noSinglePlace {
				below = at + stepMark + strconv.Itoa(n+1) // as pages number them
			}
			collectPlaces(places, below, f.At(jsonval.Path{strconv.Itoa(n)}), one, depth+1)
		}
	}
	if key, is := placeKey(v); is {
		if places[key] != "" {
			at = noSinglePlace
		}
		places[key] = at
	}
}

// placeKey is the same for equal distinctive values; a short text or a single digit is not distinctive.
func placeKey(v any) (key string, is bool) {
	switch v := v.(type) {
	case string:
		return "s" + v, len(v) > 2 && len(v) < readable.MaxTextBytes
	case json.Number:
		return "n" + v.String(), len(v) > 1
	}
	return "", false
}
