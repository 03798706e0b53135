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
	RequestSizeForSharedCalls = 100
	RequestSizeForJudgedCalls = 25
)

// RequestSize is how many instances a Request covers: at first, now, and why.
type RequestSize struct {
	Initial int    `json:"first"`
	Current int    `json:"now"`
	Reason  string `json:"because"`
}

func (s RequestSize) String() string {
	if s.Initial == s.Current {
		return fmt.Sprintf("%d, since %s", s.Current, s.Reason)
	}
	return fmt.Sprintf("%d at first, now %d, since %s", s.Initial, s.Current, s.Reason)
}

// RequestSizeFor returns the first size of an Idea's Requests.
func RequestSizeFor(i *ideafile.Idea, bindings ideafile.ToolBindings) RequestSize {
	if n := i.Config.MaxInstancesPerPart; n > 0 {
		return RequestSize{n, n, "the file says so"}
	}
	n, reason, _ := RecommendedRequestSize(i, bindings)
	return RequestSize{n, n, reason}
}

// RecommendedRequestSize returns the size that suits the LLM's work for each instance, and the reason. It is certain
// only if bindings or the file say for each Tool whether the LLM writes its results; a Tool for which neither says so
// counts as not latent.
func RecommendedRequestSize(i *ideafile.Idea,
	bindings ideafile.ToolBindings) (size int, reason string, isCertain bool) {
	if i.IsLLMForbidden() {
		return RequestSizeForSharedCalls, "every Plan is complete, so no LLM is asked", true
	}
	isCertain = true
	for _, t := range i.Tools {
		b, isBound := bindings[t.Name]
		if isBound && b.Kind == ideafile.KindLatent {
			return RequestSizeForJudgedCalls, fmt.Sprintf("the LLM writes `%s` for each", t.Name), true
		}
		isCertain = isCertain && (isBound || t.RawActivity != nil || t.DelegateFile != "")
		if path := findMatchingPath(t.Source, t.Source, jsonval.Path{}, isChoice, map[string]bool{}); path != nil {
			name := cmp.Or(path.String(), "parameters")
			return RequestSizeForJudgedCalls, fmt.Sprintf("the LLM chooses `%s` of `%s` for each", name, t.Name), true
		}
	}
	if out := i.OutputSchema; out != nil &&
		findMatchingPath(out.Source, out.Source, jsonval.Path{}, allowsEntryPerInstance, map[string]bool{}) != nil {
		return RequestSizeForJudgedCalls, "the LLM writes an output for each", true
	}
	reason = "what each gets follows from Calls for all, or by Reference"
	if len(i.MCPServersToAskForTools()) > 0 {
		reason += ", as far as is known before its MCP servers are asked for their tools"
	}
	return RequestSizeForSharedCalls, reason, isCertain
}

// findMatchingPath returns the path of the first value that the LLM writes by a part of a schema and for whose schema
// matches returns true; nil if there is none. The LLM does not write a const, and so no wired value. isRefFollowed has
// the references that were followed before.
func findMatchingPath(root, partSchema any, path jsonval.Path, matches func(jsonval.Object) bool,
	isRefFollowed map[string]bool) (found jsonval.Path) {
	const rootTarget = "-" // not a pointer: no reference was followed
	node, target := jsonschema.ResolveLocalRefs(root, partSchema, rootTarget)
	schema := jsonval.AsObject(node)
	if _, isConst := schema["const"]; isConst || isRefFollowed[target] {
		return nil
	}
	if matches(schema) {
		return path
	}
	isRefFollowed[target] = target != rootTarget
	jsonschema.MapSubschemas(schema, func(pointer string, inner any) any {
		steps, innerValuePath := strings.Split(pointer, "/"), path
		switch steps[1] {
		case "properties":
			innerValuePath = path.WithStep(jsonschema.UnescapePointerStep(steps[2]))
		case "items", "prefixItems", "additionalProperties", "patternProperties", "allOf", "anyOf", "oneOf":
		default: // it only constrains values, or is a definition
			return inner
		}
		if found == nil {
			found = findMatchingPath(root, inner, innerValuePath, matches, isRefFollowed)
		}
		return inner
	})
	return found
}

// isChoice reports whether a value is one of several that the schema lists, so that Calls differ by instance. Texts and
// numbers mostly come from the case, by Reference.
func isChoice(schema jsonval.Object) bool {
	if choices, isEnum := schema["enum"]; isEnum {
		return len(jsonval.AsList(choices)) > 1
	}
	constCount := 0
	for _, choice := range append(jsonval.AsList(schema["anyOf"]), jsonval.AsList(schema["oneOf"])...) {
		if _, isConst := jsonval.AsObject(choice)["const"]; isConst {
			constCount++
		}
	}
	return constCount > 1 || slices.Contains(jsonschema.Types(schema), "boolean")
}

// allowsEntryPerInstance reports whether a value is a list, or a map: an object with a schema for keys that it does not
// name. An object that says nothing about further keys does not count.
func allowsEntryPerInstance(schema jsonval.Object) bool {
	additionalSchema, hasAdditional := schema["additionalProperties"]
	isList := schema["items"] != nil || slices.Contains(jsonschema.Types(schema), "array")
	isMap := hasAdditional || schema["patternProperties"] != nil
	return (isList && schema["items"] != false) || (isMap && additionalSchema != false)
}

// NextRequestSize returns the size for the measured share: half if the share is above the limit with confidence; a
// quarter more, up to largest, if it is below with confidence.
func NextRequestSize(currentSize, maxSize int, c RecheckCount, disagreementLimit float64) (size int, reason string) {
	switch grownSize := min(currentSize+max(1, currentSize/4), maxSize); {
	case c.IsDifferedShareAbove(disagreementLimit) && currentSize > 1:
		return currentSize / 2, fmt.Sprintf("%s, above the limit of %s %%", c, formatPercent(disagreementLimit))
	case c.isDifferedShareBelow(disagreementLimit) && grownSize > currentSize:
		return grownSize, fmt.Sprintf("%s, below the limit of %s %%", c, formatPercent(disagreementLimit))
	}
	return currentSize, ""
}

func formatPercent(share float64) string { return fmt.Sprintf("%g", roundTo3Decimals(100*share)) }
