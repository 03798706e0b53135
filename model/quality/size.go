package quality

import (
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// The number of instances per Request for "auto": studies find small losses up to about a hundred if little is written
// for each, and earlier if each is judged.
const (
	SizeShared = 100
	SizeJudged = 25
)

// Size is how many instances a Request covers: at first, now, and why.
type Size struct {
	First   int    `json:"first"`
	Now     int    `json:"now"`
	Because string `json:"because"`
}

func (s Size) String() string {
	if s.First == s.Now {
		return fmt.Sprintf("%d, since %s", s.Now, s.Because)
	}
	return fmt.Sprintf("%d at first, now %d, since %s", s.First, s.Now, s.Because)
}

// SizeFor is the first size of an Idea's Requests.
func SizeFor(i *ideafile.Idea, bindings ideafile.ToolBindings) Size {
	if n := i.Config.MaxInstancesPerPart; n > 0 {
		return Size{n, n, "the file says so"}
	}
	n, because, _ := RecommendedSize(i, bindings)
	return Size{n, n, because}
}

// RecommendedSize is the size by the LLM's work for each instance, and the reason. It is certain only if bindings or
// the file say for each Tool whether the LLM writes its results; without them, an undetermined Tool does not count as
// latent.
func RecommendedSize(i *ideafile.Idea, bindings ideafile.ToolBindings) (size int, because string, certain bool) {
	certain = true
	for _, t := range i.Tools {
		b, bound := bindings[t.Name]
		if bound && b.Kind == ideafile.KindLatent {
			return SizeJudged, fmt.Sprintf("the LLM writes `%s` for each", t.Name), true
		}
		certain = certain && (bound || t.RawActivity != nil || t.DelegateFile != "")
		if name := chosenParam(t); name != "" {
			return SizeJudged, fmt.Sprintf("the LLM chooses `%s` of `%s` for each", name, t.Name), true
		}
	}
	if i.OutputSchema != nil && hasEntryForEach(jsonval.AsObject(i.OutputSchema.Source)) {
		return SizeJudged, "the LLM writes an output for each", true
	}
	return SizeShared, "what each gets follows from Calls for all, or by Reference", certain
}

// chosenParam is a parameter with several values for the LLM to choose from, so that Calls differ by instance.
func chosenParam(t *ideafile.Tool) string {
	for name, v := range jsonval.Sorted(jsonschema.Properties(t.Source)) {
		if choices := jsonval.AsList(jsonval.AsObject(v)["enum"]); len(choices) > 1 {
			return name
		}
	}
	return ""
}

// hasEntryForEach reports whether an output, or a part of it, is a list or a map of similar entries.
func hasEntryForEach(schema jsonval.Object) bool {
	_, isMap := schema["additionalProperties"].(jsonval.Object)
	return isMap || schema["items"] != nil
}

// NextSize is the size for the measured share: half if the share is above the limit with confidence, a quarter more, up
// to most, if it is below with confidence.
func NextSize(now, most int, c Count, limit float64) (size int, because string) {
	switch grown := min(now+max(1, now/4), most); {
	case c.IsAbove(limit) && now > 1:
		return now / 2, fmt.Sprintf("%s, above the limit of %s %%", c, formatPercent(limit))
	case c.isBelow(limit) && grown > now:
		return grown, fmt.Sprintf("%s, below the limit of %s %%", c, formatPercent(limit))
	}
	return now, ""
}

func formatPercent(share float64) string { return fmt.Sprintf("%g", roundShare(100*share)) }
