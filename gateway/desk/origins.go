package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"processidea/client"
	"processidea/client/readable"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// newOriginLookup returns a function that says where a value of a Call's parameters comes from: wired by the Tool's
// designer, or found in the instance's input or State. describeWriter says who wrote a value of State; "": it is not
// known.
func newOriginLookup(wiringByParam map[string]string, a client.Approval, presenter *shown.Presenter,
	describeWriter func(jsonval.Path) string) func(path jsonval.Path, v any) string {
	places := placesOfValues{map[string]string{}, map[string]jsonval.Path{}}
	places.collect("†input", nil, presenter.InputFormat(), a.Input)
	places.collect("†state", nil, presenter.StateFormat(), a.State)
	withWriter := func(text, place string, path jsonval.Path) string {
		if strings.HasPrefix(place, "†state") && text != "" {
			text += describeWriter(path)
		}
		return text
	}
	return func(path jsonval.Path, v any) string {
		if len(path) == 1 && wiringByParam[path[0]] != "" {
			wiring := wiringByParam[path[0]]
			refs, _ := refexpr.FindReferences(wiring)
			text := describeWiring(wiring, presenter)
			if len(refs) != 1 || len(refs[0].Path) == 0 {
				return text
			}
			return withWriter(text, "†"+refs[0].Kind, refs[0].Path)
		}
		key, _ := valueKey(v)
		switch place := places.placeByValue[key]; strings.TrimSpace(place) {
		case "":
			return ""
		case "†input", "†state":
			return withWriter("taken from "+rootText(place), place, places.pathByValue[key])
		default:
			return withWriter("the same as "+describePlace(place), place, places.pathByValue[key])
		}
	}
}

// writersTimeout is how long a page waits to learn who wrote its values: people can decide without.
const writersTimeout = time.Second

// newWriterLookup returns a function that says which Call of the instance of a waiting Call wrote a value of State, and
// when; "" where a person did, or the instance does not answer. The instance is asked once, and only if need be.
func (v *visit) newWriterLookup(a client.Approval, presenter *shown.Presenter) func(jsonval.Path) string {
	lookup := sync.OnceValue(func() func(jsonval.Path) string {
		ctx, cancel := context.WithTimeout(v.Context(), writersTimeout)
		defer cancel()
		status, _ := v.Client.Process(a.Process).InstanceOfCall(ctx, a.CallID) // without an answer it has no writes
		return writerLookup(status, presenter, a.Language)
	})
	return func(path jsonval.Path) string { return lookup()(path) }
}

func writerLookup(status client.InstanceStatus, presenter *shown.Presenter,
	l shown.Language) func(jsonval.Path) string {
	toolByCallID := map[string]string{}
	for _, c := range status.Calls {
		toolByCallID[c.ID] = c.Tool
	}
	return func(path jsonval.Path) string {
		for _, w := range slices.Backward(status.Writes) {
			if commonLength := min(len(w.Path), len(path)); !slices.Equal(w.Path[:commonLength], path[:commonLength]) {
				continue
			}
			tool, isCall := toolByCallID[w.Author]
			// Of a value that several wrote, or added to, no single one is named.
			if len(w.Path) > len(path) || w.OutputMethod != "" || !isCall || w.WrittenAt.IsZero() {
				return ""
			}
			return ", from “" + clipName(presenter.ToolTitle(tool)) + "” on " + momentText(w.WrittenAt, l)
		}
		return ""
	}
}

// takeOrigins removes from facts where their values come from, and lists that. prefix leads to the names of the facts.
func takeOrigins(facts []fact, prefix string) (origins []fact) {
	for n := range facts {
		f := &facts[n]
		if f.Origin != "" {
			origins = append(origins, fact{Name: prefix + f.Name, Text: f.Origin})
			f.Origin = ""
		}
		origins = append(origins, takeOrigins(f.Facts, prefix+f.Name+pathStepSeparator)...)
	}
	return origins
}

// describeWiring describes what a Tool's designer wired: a Reference, or a value made from several. It returns "" if
// that reads something that only operators see, or nothing of the case.
func describeWiring(wiring string, presenter *shown.Presenter) string {
	refs, _ := refexpr.FindReferences(wiring)
	var places []string
	isWhole := false
	for _, ref := range refs {
		place, format, isRawReference := placeOf(ref.String(), presenter, true)
		if isRawReference || format.Display == shown.Hidden {
			return ""
		}
		places, isWhole = append(places, place), len(ref.Path) == 0
	}
	switch {
	case len(places) == 0:
		return ""
	case len(places) > 1:
		return "always made from several values of the case"
	case refexpr.IsTemplate(wiring):
		return "always made from " + cmp.Or(rootText(places[0]), describePlace(places[0]))
	case rootText(places[0]) != "" && !isWhole:
		return "always taken from " + rootText(places[0])
	}
	return "always " + describePlace(places[0])
}

// placeOf returns the place of a Reference, for describePlace, and the format of its value. The format is hidden if a
// step on the way to the value is. isRawReference means that the Reference is no place in an instance's input or State;
// it is then returned unchanged. onlyTitledSteps leaves out steps that the schema does not describe, since their names
// are data.
func placeOf(reference string, presenter *shown.Presenter, onlyTitledSteps bool) (place string, format shown.Format,
	isRawReference bool) {
	ref, err := refexpr.ParseReference(reference)
	format, known := map[string]shown.Format{"input": presenter.InputFormat(),
		"state": presenter.StateFormat()}[ref.Kind]
	if err != nil || !known {
		return reference, shown.Format{}, true
	}
	place = "†" + ref.Kind
	for _, step := range ref.Path {
		if place, format = placeBelow(place, format, step, onlyTitledSteps); place == noSinglePlace {
			break
		}
	}
	return place, format, false
}

// rootText describes the input or the State of an instance; "" for a place below.
func rootText(place string) string {
	return map[string]string{"†input": "the data it started with", "†state": "what is known of it"}[place]
}

// describePlace describes a place in words: †input › order is “order” in the data it started with.
func describePlace(place string) string {
	for _, root := range []string{"†input", "†state"} {
		if name, found := strings.CutPrefix(place, root+pathStepSeparator); found {
			return "“" + name + "” in " + rootText(root)
		} else if place == root {
			return "all of " + rootText(root)
		}
	}
	return place
}

// pathStepSeparator stands between the names that lead to a value.
const pathStepSeparator = " › "

// noSinglePlace marks a value that is at several places, or at one that only operators see.
const noSinglePlace = " "

// placeBelow returns the place of a member, and how the member is shown. With onlyTitledSteps, a member that the schema
// does not describe has the place of its parent.
func placeBelow(parent string, f shown.Format, name string, onlyTitledSteps bool) (string, shown.Format) {
	title, memberFormat := f.MemberTitle(name), f.FormatAt(jsonval.Path{name})
	_, isDescribed := f.Properties[name]
	n, err := strconv.Atoi(name)
	isItem := err == nil && f.Items != nil
	switch {
	case parent == noSinglePlace || memberFormat.Display == shown.Hidden:
		return noSinglePlace, memberFormat
	case isItem:
		title = strconv.Itoa(n + 1) // as pages number them
	case onlyTitledSteps && !isDescribed:
		return parent, memberFormat
	}
	return parent + pathStepSeparator + clipName(title), memberFormat
}

// placesOfValues has, by valueKey, where the values of an instance are: in titles, and as a path.
type placesOfValues struct {
	placeByValue map[string]string
	pathByValue  map[string]jsonval.Path
}

// collect records the place of each value, by the titles that lead to it. A value at several places is marked: an equal
// value could come from any of them.
func (p placesOfValues) collect(place string, path jsonval.Path, f shown.Format, v any) {
	const maxPlaces, maxDepth = 2000, 6
	if len(p.placeByValue) > maxPlaces || len(path) > maxDepth {
		return
	}
	for step, member := range jsonval.Members(v) {
		childPlace, format := placeBelow(place, f, step, true)
		p.collect(childPlace, append(slices.Clone(path), step), format, member)
	}
	if key, isDistinctive := valueKey(v); isDistinctive {
		if p.placeByValue[key] != "" {
			place = noSinglePlace
		}
		p.placeByValue[key], p.pathByValue[key] = place, path
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

// withoutShownValues returns the data of an instance without the values that fields show; nil if nothing is left. A
// field shows a value of its own name, and a distinctive value that the data has once.
func withoutShownValues(instanceData any, fields []shown.Field) any {
	isShown, countByValueKey := map[string]bool{}, map[string]int{}
	memberKey := func(name string, v any) string { return "m" + name + "\n" + jsonval.EncodeToString(v) }
	for _, f := range fields {
		isShown[memberKey(f.Name[strings.LastIndex(f.Name, ".")+1:], f.Value)] = true
		if key, isDistinctive := valueKey(f.Value); isDistinctive {
			isShown[key] = true
		}
	}
	jsonval.ContainsAny(instanceData, func(v any) bool {
		key, _ := valueKey(v)
		countByValueKey[key]++
		return false
	})
	var strip func(v any) any
	strip = func(v any) any {
		object, isObject := v.(jsonval.Object)
		if !isObject {
			return v
		}
		left := jsonval.Object{}
		for name, member := range object {
			key, isDistinctive := valueKey(member)
			if isShown[memberKey(name, member)] || isDistinctive && isShown[key] && countByValueKey[key] == 1 {
				continue
			}
			if rest := strip(member); rest != nil || member == nil {
				left[name] = rest
			}
		}
		if len(left) == 0 && len(object) > 0 {
			return nil
		}
		return left
	}
	return strip(instanceData)
}
