package harden

import (
	"maps"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// stateSchema is the closed schema of the common Plan's State: for each key what the designer declared, or else what
// the final States show. The description of each inferred key says which Tools write and read it.
func (h *hardener) stateSchema() jsonval.Object {
	declaredSchema := jsonval.AsObject(h.instances[0].startView.SchemaByKind[ideafile.TypeState])
	closedSchema := jsonval.Object{}
	maps.Copy(closedSchema, declaredSchema)
	properties := jsonval.Object{}
	for _, k := range h.stateKeys() {
		if p, ok := jsonval.AsObject(declaredSchema["properties"])[k]; ok {
			properties[k] = p
			continue
		}
		properties[k] = h.inferStateKeySchema(k)
	}
	closedSchema["type"], closedSchema["properties"], closedSchema["additionalProperties"] = "object", properties, false
	if requiredKeys := h.requiredStateKeys(declaredSchema); len(requiredKeys) > 0 {
		closedSchema["required"] = jsonval.ToJSONValue(requiredKeys)
	}
	return closedSchema
}

// stateKeys lists the top-level keys for which the closed schema needs room: the keys of all final States, of the
// output paths and References of all Calls, and of the paths that Tools write and read by themselves, used or not.
func (h *hardener) stateKeys() []string {
	isStateKey := map[string]bool{}
	addTopLevelKeys := func(paths ...jsonval.Path) {
		for _, p := range paths {
			if len(p) > 0 {
				isStateKey[p[0]] = true
			}
		}
	}
	for _, r := range h.instances {
		for k := range jsonval.Sorted(jsonval.AsObject(r.finalState)) {
			addTopLevelKeys(jsonval.Path{k})
		}
	}
	for _, c := range h.mergedCalls {
		addTopLevelKeys(c.outputPaths()...)
		addTopLevelKeys(c.stateReadPaths()...)
	}
	for _, t := range h.processes[0].lastIdea.Tools {
		if fixedOutputPath, err := refexpr.ParseOutputPath(t.OutputPath.FixedValue); t.OutputPath.IsDeclared &&
			t.OutputPath.Schema == nil && err == nil {
			addTopLevelKeys(fixedOutputPath.Paths()...)
		}
		addTopLevelKeys(t.DelegateWritablePaths...)
		//workflowcheck:ignore -- a map again
		for _, wired := range t.WiredExpressionByParam {
			e, _ := refexpr.ParseExpression(wired)
			addTopLevelKeys(statePaths(e.References())...)
		}
	}
	return jsonval.SortedKeys(isStateKey)
}

// stateReadPaths lists the paths of State to which a Call refers.
func (c *mergedCall) stateReadPaths() []jsonval.Path {
	list, _ := refexpr.FindReferences(jsonval.WithoutKey(c.rawCall, "_outputPath"))
	return statePaths(list)
}

func statePaths(references []refexpr.Reference) (paths []jsonval.Path) {
	for _, ref := range references {
		if ref.Kind == ideafile.TypeState {
			paths = append(paths, ref.Path)
		}
	}
	return paths
}

// inferStateKeySchema is the schema of one key: the types of its values, and a description of the Tools that write and
// read it.
func (h *hardener) inferStateKeySchema(key string) any {
	var states []any
	for _, r := range h.instances {
		states = append(states, r.finalState)
	}
	keySchema := inferKeyTypeSchema(states, key)
	if text := h.describeStateKey(key); text != "" {
		keySchema["description"] = text
	}
	return keySchema
}

// inferKeyTypeSchema is the schema of a key with the JSON types that its values have. Whole numbers give "number",
// since other numbers may follow.
func inferKeyTypeSchema(objects []any, key string) jsonval.Object {
	var jsonTypes []any
	for _, o := range objects {
		v, ok := jsonval.AsObject(o)[key]
		t := any(jsonval.TypeOf(v))
		if blobHandle, isStored := jsonval.AsBlobHandle(v); isStored && blobHandle.PathInValue == "" {
			t = blobHandle.ValueType
		}
		if ok && !slices.Contains(jsonTypes, t) {
			jsonTypes = append(jsonTypes, t)
		}
	}
	switch len(jsonTypes) {
	case 0:
		return jsonval.Object{}
	case 1:
		return jsonval.Object{"type": jsonTypes[0]}
	}
	return jsonval.Object{"type": jsonTypes}
}

// describeStateKey names the Tools that write a key and those that read it.
func (h *hardener) describeStateKey(key string) string {
	var writingTools, readingTools []string
	for _, c := range h.mergedCalls {
		tool := jsonval.AsText(c.rawCall["_tool"])
		startsWithKey := func(p jsonval.Path) bool { return len(p) > 0 && p[0] == key }
		if slices.ContainsFunc(c.outputPaths(), startsWithKey) && !slices.Contains(writingTools, tool) {
			writingTools = append(writingTools, tool)
		}
		if slices.ContainsFunc(c.stateReadPaths(), startsWithKey) && !slices.Contains(readingTools, tool) {
			readingTools = append(readingTools, tool)
		}
	}
	var parts []string
	if len(writingTools) > 0 {
		parts = append(parts, "written by "+strings.Join(writingTools, " or "))
	}
	if len(readingTools) > 0 {
		parts = append(parts, "read by "+strings.Join(readingTools, ", "))
	}
	return strings.Join(parts, ", ")
}

// requiredStateKeys are the keys that the designer requires, and those in every final State that every run of the Plan
// writes, whichever branches it takes.
func (h *hardener) requiredStateKeys(declaredSchema jsonval.Object) []string {
	keys, _ := jsonval.AsStringList(declaredSchema["required"])
	for _, k := range h.alwaysWrittenKeys() {
		if h.isInEveryFinalState(k) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// maxBranchChoiceCombinations bounds how many courses of a Plan are followed. A course is one choice of a branch for
// each Call.
const maxBranchChoiceCombinations = 1024

// alwaysWrittenKeys lists the top-level keys that all of the Plans write in every run.
func (h *hardener) alwaysWrittenKeys() (keys []string) {
	for n, p := range h.dividePlans() {
		planKeys := h.keysAlwaysWrittenBy(p)
		if n > 0 {
			planKeys = slices.DeleteFunc(planKeys, func(k string) bool { return !slices.Contains(keys, k) })
		}
		keys = planKeys
	}
	return keys
}

// countBranchChoices is the number of ways in which a Call may end: one for each branch, and one more if a condition in
// the Plan may leave it out.
func (p hardenedPlan) countBranchChoices(c *mergedCall) int {
	branchCount := max(1, len(c.outputPath()))
	if c.condition != nil && !(p.hasStartConditionsInWhen && c.condition.readsOnlyStart) {
		branchCount++
	}
	return branchCount
}

// keysAlwaysWrittenBy lists the top-level keys that a Plan's Calls write in every course. It lists none if there are
// too many courses to follow.
func (h *hardener) keysAlwaysWrittenBy(p hardenedPlan) []string {
	choiceCount := 1
	for _, c := range p.calls {
		if choiceCount *= p.countBranchChoices(c); choiceCount > maxBranchChoiceCombinations {
			return nil
		}
	}
	countByKey := map[string]int{}
	for choice := range choiceCount {
		for _, k := range h.keysWrittenForBranchChoice(p, choice) {
			countByKey[k]++
		}
	}
	return slices.DeleteFunc(jsonval.SortedKeys(countByKey), func(k string) bool { return countByKey[k] < choiceCount })
}

// keysWrittenForBranchChoice lists the top-level keys that are written in one course. The number of the course says
// which branch each Call takes, or that it is left out. A Call runs if all that it reads was written, or is there at
// the start of every instance.
func (h *hardener) keysWrittenForBranchChoice(p hardenedPlan, choice int) []string {
	var writtenPaths []jsonval.Path
	hasExecuted := map[*mergedCall]bool{}
	for hasProgressed := true; hasProgressed; {
		hasProgressed = false
		remainingChoice := choice
		for _, c := range p.calls {
			branches, branchCount := c.outputPath(), p.countBranchChoices(c)
			branchIndex := remainingChoice % branchCount
			remainingChoice /= branchCount
			if branchIndex < len(branches) && !hasExecuted[c] && h.hasAllInputs(c, writtenPaths) {
				hasExecuted[c], hasProgressed = true, true
				writtenPaths = append(writtenPaths, branches[branchIndex]...)
			}
		}
	}
	keys := map[string]bool{}
	for _, q := range writtenPaths {
		if len(q) > 0 {
			keys[q[0]] = true
		}
	}
	return jsonval.SortedKeys(keys)
}

// hasAllInputs reports whether everything that a Call reads from State is there.
func (h *hardener) hasAllInputs(c *mergedCall, writtenPaths []jsonval.Path) bool {
	expressions := c.paramExpressions()
	wiredExpressionByParam := h.processes[0].lastIdea.Tool(jsonval.AsText(c.rawCall["_tool"])).WiredExpressionByParam
	for _, v := range jsonval.Sorted(wiredExpressionByParam) {
		if e, err := refexpr.ParseExpression(v); err == nil {
			expressions = append(expressions, e)
		}
	}
	isAbsent := func(ref refexpr.Reference) bool {
		return ref.Kind == ideafile.TypeState && len(ref.Path) > 0 &&
			!slices.ContainsFunc(writtenPaths, ref.Path.Overlaps) && !h.isPresentAtAllStarts(ref)
	}
	return !slices.ContainsFunc(expressions, func(e refexpr.Expression) bool { return !canHaveValue(e, isAbsent) })
}

// isPresentAtAllStarts reports whether every instance has a value at a place when it starts. It is called often, so it
// caches the answers.
func (h *hardener) isPresentAtAllStarts(ref refexpr.Reference) bool {
	refText := ref.String()
	isPresent, isCached := h.isPresentAtStartByRef[refText]
	if !isCached {
		isPresent = !slices.ContainsFunc(h.instances, func(r *instanceRun) bool {
			_, ok := r.valueAtStart(ref)
			return !ok
		})
		h.isPresentAtStartByRef[refText] = isPresent
	}
	return isPresent
}

func (h *hardener) isInEveryFinalState(key string) bool {
	return !slices.ContainsFunc(h.instances, func(r *instanceRun) bool {
		_, ok := jsonval.AsObject(r.finalState)[key]
		return !ok
	})
}
