package processtest_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// nestfulTool is a tool of NESTFUL: what its parameters and its results are.
type nestfulTool struct {
	params, results map[string]any // JSON Schemas by name
	required        map[string]bool
}

// nestfulTools reads a file of tools, by their names. Three ways of writing parameters are in use, and types in
// whatever letters.
func nestfulTools(v any) map[string]*nestfulTool {
	tools := map[string]*nestfulTool{}
	for _, raw := range v.([]any) {
		m := raw.(map[string]any)
		tool := &nestfulTool{params: map[string]any{}, results: map[string]any{}, required: map[string]bool{}}
		for _, group := range []string{"query_parameters", "path_parameters", "arguments", "parameters"} {
			for name, p := range jsonval.AsObject(m[group]) {
				tool.params[name] = nestfulSchema(p)
				required := jsonval.AsObject(p)["required"]
				tool.required[name] = required == true || required == "true" || required == "True"
			}
		}
		for name, p := range jsonval.AsObject(m["output_parameters"]) {
			tool.results[name] = nestfulSchema(p)
		}
		tools[jsonval.AsText(m["name"])] = tool
	}
	return tools
}

// nestfulSchema is the JSON Schema of a parameter or a result.
func nestfulSchema(v any) map[string]any {
	m, out := jsonval.AsObject(v), map[string]any{}
	switch kind := strings.ToLower(jsonval.AsText(m["type"])); kind {
	case "string", "number", "integer", "boolean", "array", "object":
		out["type"] = kind
	case "float":
		out["type"] = "number"
	}
	if properties := jsonval.AsObject(m["properties"]); properties != nil {
		of := map[string]any{}
		for name, p := range properties {
			of[name] = nestfulSchema(p)
		}
		out["properties"] = of
	}
	if m["items"] != nil {
		out["items"] = nestfulSchema(m["items"])
	}
	return out
}

var (
	nestfulWhole = regexp.MustCompile(`^\$(var\d+)([^$]*)\$$`)
	nestfulStep  = regexp.MustCompile(`\.([^.\[\]]+)|\[(\d+)\]`)
)

// nestfulReference is the label and the path that a value reads, where it is nothing else.
func nestfulReference(v any) (label string, path jsonval.Path, ok bool) {
	text, _ := v.(string)
	m := nestfulWhole.FindStringSubmatch(text)
	if m == nil {
		return "", nil, false
	}
	for _, step := range nestfulStep.FindAllStringSubmatch(m[2], -1) {
		path = append(path, step[1]+step[2])
	}
	return m[1], path, true
}

// nestfulFlow is one Plan of NESTFUL as an Idea.
type nestfulFlow struct {
	*recordedFlow
	tools  map[string]*nestfulTool
	labels map[string]string         // the Tool of each label so far
	reads  map[string][]jsonval.Path // what is read of each label
}

func newNestfulFlow(name string, tools map[string]*nestfulTool, calls []any) *nestfulFlow {
	f := &nestfulFlow{recordedFlow: &recordedFlow{name: name, troubles: map[int][]string{}}, tools: tools,
		labels: map[string]string{}, reads: map[string][]jsonval.Path{}}
	plan, palette := []any{}, map[string]any{}
	message := map[string]any{"type": "plan", "stage": "complete"}
	for n, raw := range calls {
		call := raw.(map[string]any)
		tool, label := jsonval.AsText(call["name"]), jsonval.AsText(call["label"])
		arguments := jsonval.AsObject(call["arguments"])
		if tool == "var_result" {
			message["output"] = f.translated(-1, arguments)
			continue
		}
		written := map[string]any{"_tool": tool}
		if label != "" {
			written["_outputPath"] = refexpr.Reference{Kind: "state", Path: jsonval.Path{label}}.String()
		}
		for k, v := range arguments {
			f.examine(n, tool, k, v)
			written[k] = f.translated(n, v)
		}
		if known := tools[tool]; known == nil {
			f.trouble(n, "unknown tool: %s", tool)
		} else {
			palette[tool] = known.asTool(tool, label)
			for k := range known.required {
				if _, given := arguments[k]; known.required[k] && !given {
					f.trouble(n, "missing argument: %s of %s", k, tool)
				}
			}
		}
		plan = append(plan, written)
		f.labels[label] = tool
	}
	message["plan"] = plan
	f.idea = map[string]any{"schema": map[string]any{"tools": palette, "output": map[string]any{"type": "object"}},
		"context": []any{map[string]any{"type": "state", "state": map[string]any{}}, message}}
	f.play = func(tool string, _ map[string]any) any { return f.result(tool) }
	return f
}

// asTool is the tool in a palette.
func (t *nestfulTool) asTool(name, _ string) map[string]any {
	required := []any{}
	for _, k := range jsonval.SortedKeys(t.required) {
		if t.required[k] {
			required = append(required, k)
		}
	}
	return map[string]any{"type": "object", "properties": t.params, "required": required, "additionalProperties": false,
		"_activity": name,
		"_output":   map[string]any{"type": "object", "properties": t.results, "additionalProperties": false}}
}

// examine notes what is wrong with an argument, by the specification alone.
func (f *nestfulFlow) examine(n int, tool, name string, v any) {
	known := f.tools[tool]
	if known == nil {
		return
	}
	schema, declared := known.params[name]
	if !declared {
		f.trouble(n, "unknown argument: %s of %s", name, tool)
		return
	}
	f.examineValue(n, name+" of "+tool, jsonval.AsObject(schema), v)
}

// examineValue notes what is wrong with a value or a part of it. Whether a number is whole is seen when it is there.
func (f *nestfulFlow) examineValue(n int, what string, schema map[string]any, v any) {
	want := strings.ReplaceAll(jsonval.AsText(schema["type"]), "integer", "number")
	fits := func(kind string) bool {
		return want == "" || kind == "" || strings.ReplaceAll(kind, "integer", "number") == want
	}
	if label, path, ok := nestfulReference(v); ok {
		if tool := f.tools[f.labels[label]]; tool != nil {
			got, found := nestfulTypeAt(map[string]any{"type": "object", "properties": tool.results}, path)
			if found && !fits(got) {
				f.trouble(n, "wrong type: %s is %s, and reads %s", what, want, got)
			}
		}
		return
	}
	list, _ := v.([]any)
	_, isText := v.(string)
	switch {
	case !fits(jsonval.TypeOf(v)) && !isText && strings.Contains(string(jsonval.Encode(v)), "$var"):
		f.late = true // a list or an object around a reference is looked at when the Call is ready
	case !fits(jsonval.TypeOf(v)):
		f.trouble(n, "wrong type: %s is %s, and has %s", what, want, jsonval.Encode(v))
	}
	for _, e := range list {
		f.examineValue(n, what, jsonval.AsObject(schema["items"]), e)
	}
	for k, p := range jsonval.AsObject(schema["properties"]) {
		if e, ok := jsonval.AsObject(v)[k]; ok {
			f.examineValue(n, what+"."+k, jsonval.AsObject(p), e)
		}
	}
}

// translated is a value with its references as ours. It notes those that read what nothing gives.
func (f *nestfulFlow) translated(n int, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = f.translated(n, e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for k, e := range v {
			out[k] = f.translated(n, e)
		}
		return out
	}
	label, path, ok := nestfulReference(v)
	if !ok {
		return v
	}
	switch tool := f.tools[f.labels[label]]; {
	case f.labels[label] == "":
		f.trouble(n, "unknown label: %s", label)
	case tool != nil:
		f.reads[label] = append(f.reads[label], path)
		if _, found := nestfulTypeAt(map[string]any{"type": "object", "properties": tool.results}, path); !found {
			f.trouble(n, "unknown result: %s of %s", path, f.labels[label])
		}
	}
	return refexpr.Reference{Kind: "state", Path: append(jsonval.Path{label}, path...)}.String()
}

// nestfulTypeAt is the type at a path of a result; found is false where the specification has no such place.
func nestfulTypeAt(schema map[string]any, path jsonval.Path) (kind string, found bool) {
	for n, step := range path {
		_, notANumber := strconv.Atoi(step)
		properties, described := schema["properties"].(map[string]any)
		switch {
		case schema["type"] == "array" && notANumber != nil:
			return "", false
		case schema["type"] == "array" && schema["items"] != nil:
			schema = jsonval.AsObject(schema["items"])
		case described && properties[step] != nil:
			schema = jsonval.AsObject(properties[step])
		case described && n == 0:
			return "", false
		default:
			return "", true // it says no more
		}
	}
	kind, _ = schema["type"].(string)
	return kind, true
}

// result makes up what a tool gives: all that it declares, and what is read of it where it does not say.
func (f *nestfulFlow) result(tool string) any {
	var value any = map[string]any{}
	for name, schema := range f.tools[tool].results {
		value.(map[string]any)[name] = nestfulValue(jsonval.AsObject(schema), tool+"."+name)
	}
	for label, paths := range f.reads {
		for _, p := range paths {
			if _, there := jsonval.ValueAt(value, p); f.labels[label] == tool && !there {
				value = withText(value, p, tool+"."+p.String())
			}
		}
	}
	return value
}

func nestfulValue(schema map[string]any, text string) any {
	switch schema["type"] {
	case "number", "integer":
		return jsonval.ToJSONValue(len(text))
	case "boolean":
		return true
	case "array":
		if schema["items"] == nil {
			return []any{}
		}
		return []any{nestfulValue(jsonval.AsObject(schema["items"]), text)}
	case "object":
		out := map[string]any{}
		for name, p := range jsonval.AsObject(schema["properties"]) {
			out[name] = nestfulValue(jsonval.AsObject(p), text+"."+name)
		}
		return out
	}
	return text
}

// withText puts a text at a path, through lists and objects that are made on the way.
func withText(v any, p jsonval.Path, text string) any {
	if len(p) == 0 {
		return text
	}
	if list, isList := v.([]any); isList || p[0] == "0" {
		var first any
		if len(list) > 0 {
			first = list[0]
		}
		return append([]any{withText(first, p[1:], text)}, list[min(1, len(list)):]...)
	}
	out := map[string]any{}
	for k, e := range jsonval.AsObject(v) {
		out[k] = e
	}
	out[p[0]] = withText(out[p[0]], p[1:], text)
	return out
}

func TestRecordedPlansOfNestedCallsAreRefusedForWhatIsWrongOrRunAlike(t *testing.T) {
	counted := &tally{reasons: map[string]int{}}
	for _, file := range recordedFiles(t, "nestful/*-data.json") {
		tools := nestfulTools(decoded(t, strings.Replace(file, "-data.json", "-spec.json", 1)))
		for n, raw := range decoded(t, file).([]any) {
			calls, _ := raw.(map[string]any)["output"].([]any)
			counted.holds(t, newNestfulFlow(fmt.Sprintf("%s %d", filepath.Base(file), n+1), tools, calls).recordedFlow)
		}
	}
	counted.log(t, "NESTFUL")
	counted.runSomeForReal(t, 5)
}
