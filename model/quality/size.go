package quality

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// The numbers of instances per Request for "auto". Studies find small losses up to about a hundred instances if the LLM
// writes little for each, and losses at fewer instances if it judges each.
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

// SizeFor returns the first size of an Idea's Requests.
func SizeFor(i *ideafile.Idea, bindings ideafile.ToolBindings) Size {
	if n := i.Config.MaxInstancesPerPart; n > 0 {
		return Size{n, n, "the file says so"}
	}
	n, because, _ := RecommendedSize(i, bindings)
	return Size{n, n, because}
}

// RecommendedSize returns the size that suits the LLM's work for each instance, and the reason. It is certain only if
// bindings or the file say for each Tool whether the LLM writes its results; a Tool for which neither says so counts as
// not latent.
func RecommendedSize(i *ideafile.Idea, bindings ideafile.ToolBindings) (size int, because string, certain bool) {
	if i.LLMForbidden() {
		return SizeShared, "every Plan is complete, so no LLM is asked", true
	}
	certain = true
	for _, t := range i.Tools {
		b, bound := bindings[t.Name]
		if bound && b.Kind == ideafile.KindLatent {
			return SizeJudged, fmt.Sprintf("the LLM writes `%s` for each", t.Name), true
		}
		certain = certain && (bound || t.RawActivity != nil || t.DelegateFile != "")
		if at := findWritten(t.Source, t.Source, jsonval.Path{}, isChoice, map[string]bool{}); at != nil {
			name := cmp.Or(at.String(), "parameters")
			return SizeJudged, fmt.Sprintf("the LLM chooses `%s` of `%s` for each", name, t.Name), true
		}
	}
	if out := i.OutputSchema; out != nil &&
		findWritten(out.Source, out.Source, jsonval.Path{}, hasEntryForEach, map[string]bool{}) != nil {
		return SizeJudged, "the LLM writes an output for each", true
	}
	because = "what each gets follows from Calls for all, or by Reference"
	if len(i.MCPServersToAskForTools()) > 0 {
		because += ", as far as is known before its MCP servers are asked for their tools"
	}
	return SizeShared, because, certain
}

// findWritten returns the path of the first value that the LLM writes by a part of a schema and for whose schema is
// returns true; nil if there is none. The LLM does not write a const, and so no wired value. followed has the
// references that were followed before.
func findWritten(root, part any, path jsonval.Path, is func(jsonval.Object) bool,
	followed map[string]bool) (found jsonval.Path) {
	const here = "-" // not a pointer: no reference was followed
	node, target := jsonschema.ResolveLocalRefs(root, part, here)
	schema := jsonval.AsObject(node)
	if _, isConst := schema["const"]; isConst || followed[target] {
		return nil
	}
	if is(schema) {
		return path
	}
	followed[target] = target != here
	jsonschema.WithSubschemas(schema, func(pointer string, inner any) any {
		steps, at := strings.Split(pointer, "/"), path
		switch steps[1] {
		case "properties":
			at = path.With(jsonschema.UnescapePointerStep(steps[2]))
		case "items", "prefixItems", "additionalProperties", "patternProperties", "allOf", "anyOf", "oneOf":
		default: // it only constrains values, or is a definition
			return inner
		}
		if found == nil {
			found = findWritten(root, inner, at, is, followed)
		}
		return inner
	})
	return found
}

// isChoice reports whether a value is one of several that the schema lists, so that Calls differ by instance. Texts and
// numbers mostly come from the case, by Reference.
func isChoice(schema jsonval.Object) bool {
	if choices, listed := schema["enum"]; listed {
		return len(jsonval.AsList(choices)) > 1
	}
	consts := 0
	for _, choice := range append(jsonval.AsList(schema["anyOf"]), jsonval.AsList(schema["oneOf"])...) {
		if _, isConst := jsonval.AsObject(choice)["const"]; isConst {
			consts++
		}
	}
	return consts > 1 || slices.Contains(jsonschema.Types(schema), "boolean")
}

// hasEntryForEach reports whether a value is a list, or a map: an object with a schema for keys that it does not name.
// An object that says nothing about further keys does not count.
func hasEntryForEach(schema jsonval.Object) bool {
	more, isGiven := schema["additionalProperties"]
	isList := schema["items"] != nil || slices.Contains(jsonschema.Types(schema), "array")
	isMap := isGiven || schema["patternProperties"] != nil
	return (isList && schema["items"] != false) || (isMap && more != false)
}

// NextSize returns the size for the measured share: half if the share is above the limit with confidence; a quarter
// more, up to largest, if it is below with confidence.
func NextSize(now, largest int, c Count, limit float64) (size int, because string) {
	switch grown := min(now+max(1, now/4), largest); {
	case c.IsAbove(limit) && now > 1:
		return now / 2, fmt.Sprintf("%s, above the limit of %s %%", c, formatPercent(limit))
	case c.isBelow(limit) && grown > now:
		return grown, fmt.Sprintf("%s, below the limit of %s %%", c, formatPercent(limit))
	}
	return now, ""
}

func formatPercent(share float64) string { return fmt.Sprintf("%g", roundShare(100*share)) }
