package desk

import (
	"encoding/json"
	"fmt"
	"strings"

	"processidea/client"
	"processidea/client/readable"
	"processidea/model/jsonval"
)

// origins returns where values of a Call's parameters come from: wired by the Tool's designer, or found in the
// instance's input or State.
func origins(wired map[string]string, a client.Approval) func(path jsonval.Path, v any) string {
	places := map[string]string{}
	collectPlaces(places, "†input", a.Input, 0)
	collectPlaces(places, "†state", a.State, 0)
	return func(path jsonval.Path, v any) string {
		if len(path) == 1 && wired[path[0]] != "" {
			return "always " + spoken(short(wired[path[0]]))
		}
		if key, is := placeKey(v); is && strings.TrimSpace(places[key]) != "" {
			return "the same as " + spoken(places[key])
		}
		return ""
	}
}

// spoken describes a place in words: †input.order is order in what it began with.
func spoken(place string) string {
	for start, whole := range map[string]string{"†input.": "what it began with", "†state.": "what is known of it"} {
		if name, is := strings.CutPrefix(place, start); is {
			return "“" + name + "” in " + whole
		}
	}
	return place
}

const severalPlaces = " "

// collectPlaces records the place of each value. A value at several places is marked, since it does not show where
// another came from.
func collectPlaces(places map[string]string, at string, v any, depth int) {
	const mostPlaces, deepest = 2000, 6
	if len(places) > mostPlaces || depth > deepest {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range jsonval.SortedKeys(v) {
			collectPlaces(places, at+"."+clip(visible(k), cellLength), v[k], depth+1)
		}
	case []any:
		for n, one := range v {
			collectPlaces(places, fmt.Sprintf("%s[%d]", at, n), one, depth+1)
		}
	}
	if key, is := placeKey(v); is {
		if places[key] != "" {
			at = severalPlaces
		}
		places[key] = at
	}
}

// placeKey is the same for equal distinctive values; a short text or a single digit is not distinctive.
func placeKey(v any) (key string, is bool) {
	switch v := v.(type) {
	case string:
		return "s" + v, len(v) > 2 && len(v) < readable.LongestText
	case json.Number:
		return "n" + v.String(), len(v) > 1
	}
	return "", false
}
