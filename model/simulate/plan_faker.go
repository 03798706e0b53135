package simulate

import (
	"regexp"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonschema/sample"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// planFaker makes up a Plan that uses each Tool of a palette once. A parameter reads a fitting value of the same name
// from the instance's data or from another Tool's result. Without such a value, it is made up if it is required.
type planFaker struct {
	idea              *ideafile.Idea
	bindings          ideafile.ToolBindings
	view              ideafile.InstanceView
	stateSchema       any                     // nil: none
	outputPathByTool  map[string]jsonval.Path // by Tool
	fakeResultByTool  jsonval.Object          // by Tool
	sourceToolsByTool map[string][]string     // by Tool: other Tools whose results it reads
}

func newPlanFaker(idea *ideafile.Idea, bindings ideafile.ToolBindings, token string) *planFaker {
	f := &planFaker{
		idea: idea, bindings: bindings, view: ideafile.InstanceViewOf(idea.Context, token),
		outputPathByTool: map[string]jsonval.Path{}, fakeResultByTool: jsonval.Object{},
		sourceToolsByTool: map[string][]string{},
	}
	f.stateSchema = f.view.SchemaByKind[ideafile.TypeState]
	for _, t := range idea.Tools {
		if v, err := FakeResult(t.Name, t.Source["_output"], nil); err == nil {
			f.fakeResultByTool[t.Name] = v
		}
	}
	usedKeys := map[string]bool{}
	// Tools without an `_output` schema may return anything: they take the keys that the others leave.
	for _, hasSchema := range []bool{true, false} {
		for _, t := range idea.Tools {
			if p, ok := f.chooseOutputPath(t, usedKeys); ok && (t.OutputSchema != nil) == hasSchema {
				f.outputPathByTool[t.Name] = p
				if len(p) > 0 {
					usedKeys[p[0]] = true
				}
			}
		}
	}
	return f
}

// fakePlan makes up a Plan that uses each Tool once.
func (f *planFaker) fakePlan() []any {
	var out []any
	for _, t := range f.idea.Tools {
		call := jsonval.Object{"_tool": t.Name}
		for name := range jsonval.Sorted(t.SchemaByParam) {
			if v, ok := f.chooseParamValue(t, name); ok {
				call[name] = v
			}
		}
		if p, ok := f.outputPathByTool[t.Name]; ok && (!t.OutputPath.IsDeclared || t.OutputPath.Schema != nil) {
			call["_outputPath"] = refexpr.NewOutputPath(p).ReferenceText()
		}
		if v, ok := f.fakeResultByTool[t.Name]; ok && f.bindings[t.Name].Kind == ideafile.KindLatent {
			call["_output"] = v
		}
		out = append(out, call)
	}
	return out
}

// chooseParamValue returns the value of a parameter; ok is false if the parameter is left out.
func (f *planFaker) chooseParamValue(t *ideafile.Tool, name string) (v any, ok bool) {
	if _, isWired := t.WiredExpressionByParam[name]; isWired {
		return nil, false
	}
	for _, kind := range append([]string{ideafile.TypeState, ideafile.TypeInput},
		jsonval.SortedKeys(f.view.PayloadByKind)...) {
		existingValue, ok := jsonval.ValueAt(f.view.PayloadByKind[kind], jsonval.Path{name})
		if ok && t.SchemaByParam[name].Validate(existingValue) == nil {
			return refexpr.Reference{Kind: kind, Path: jsonval.Path{name}}.String(), true
		}
	}
	for _, other := range f.idea.Tools {
		p, hasPath := f.outputPathByTool[other.Name]
		result, hasFakeResult := f.fakeResultByTool[other.Name]
		hasSameName := other.Name == name || (hasPath && len(p) > 0 && p[len(p)-1] == name)
		if hasSameName && hasPath && hasFakeResult && t.SchemaByParam[name].Validate(result) == nil &&
			!f.dependsOn(other.Name, t.Name) {
			f.sourceToolsByTool[t.Name] = append(f.sourceToolsByTool[t.Name], other.Name)
			return refexpr.Reference{Kind: ideafile.TypeState, Path: p}.String(), true
		}
	}
	if !t.RequiresParam(name) {
		return nil, false
	}
	v, err := sample.MakeSample(paramSchema(t, name))
	return refexpr.EscapeDaggers(v), err == nil
}

// dependsOn reports whether a Tool reads, directly or transitively, the result of another.
func (f *planFaker) dependsOn(toolName, sourceToolName string) bool {
	if toolName == sourceToolName {
		return true
	}
	for _, next := range f.sourceToolsByTool[toolName] {
		if f.dependsOn(next, sourceToolName) {
			return true
		}
	}
	return false
}

var identifierPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// chooseOutputPath chooses where a Tool's result goes: the designer's path, a property of the State schema that the
// result fits, or the Tool's name if State is open.
func (f *planFaker) chooseOutputPath(t *ideafile.Tool, usedKeys map[string]bool) (jsonval.Path, bool) {
	rawOutputPath := t.OutputPath.FixedValue
	if s := t.OutputPath.Schema; s != nil {
		rawOutputPath, _ = sample.MakeSample(s.Source)
	}
	if t.OutputPath.IsDeclared {
		outputPath, err := refexpr.ParseOutputPath(rawOutputPath)
		if err != nil {
			return nil, false
		}
		return outputPath[0][0], true
	}
	isFree := func(name string) bool {
		_, isPresent := jsonval.ValueAt(f.view.PayloadByKind[ideafile.TypeState], jsonval.Path{name})
		return !isPresent && !usedKeys[name]
	}
	for _, name := range f.orderedStateProperties(t.Name) {
		contract := &statelog.ResultContract{StateSchema: f.stateSchema,
			OutputPath: refexpr.NewOutputPath(jsonval.Path{name})}
		result, fits := f.fakeResultByTool[t.Name]
		if fits && t.OutputSchema == nil {
			_, err := FakeResult(t.Name, nil, contract)
			fits = err == nil
		} else if fits {
			fits = contract.Check(0, result) == nil
		}
		if fits && isFree(name) {
			return jsonval.Path{name}, true
		}
	}
	allowsNewKey := f.stateSchema == nil
	if !allowsNewKey {
		schemaAtPath := jsonschema.SubschemaAt(f.stateSchema, jsonval.Path{t.Name})
		allowsNewKey = !schemaAtPath.IsForbidden && !schemaAtPath.IsDescribed
	}
	return jsonval.Path{t.Name}, allowsNewKey && identifierPattern.MatchString(t.Name) && isFree(t.Name)
}

// orderedStateProperties lists the properties of the State schema: first the one of the given name, then the required
// ones.
func (f *planFaker) orderedStateProperties(firstKey string) []string {
	required := jsonschema.Required(f.stateSchema)
	return jsonschema.OrderedPropertyNames(jsonschema.Properties(f.stateSchema),
		append([]string{firstKey}, required...))
}
