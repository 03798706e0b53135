package prompt

import (
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// writePalette describes the Tools in words: not every server shows the LLM the response format's schema.
func (w *promptWriter) writePalette() {
	if len(w.idea.Tools) > 0 {
		w.writeHeading("Tools")
	}
	notes := ToolInstructions(w.idea)
	for _, t := range w.idea.Tools {
		w.writeLine("\n### %s", t.Name)
		w.writeQuoted("", t.Description, notes[t.Name])
		params := visibleParams(t)
		w.writeLine("Parameters: %s", schemaText(params, params))
		w.writeToolResult(t)
		if w.bindings[t.Name].Kind == ideafile.KindLatent {
			w.writeLine("You are this tool.")
		}
	}
	if w.idea.OutputSchema != nil {
		w.writeOutputRules()
	}
}

// finishedText has places for the instances that it is about, and for approvals.
const finishedText = `"finished": true if nothing is left to plan%s once these Calls %shave succeeded, even if you doubt that they will; otherwise false.`

// askedAgainText has a place for what people may refuse.
const askedAgainText = `If one fails%s, you are asked again.`

// writeOutputRules describes the output, and when it is given.
func (w *promptWriter) writeOutputRules() {
	single := w.hasSingleUnnamedInstance()
	ofProcess, forWhom, forAll, atEnd := "", "", "", "at the end"
	if !single {
		ofProcess, forWhom, forAll, atEnd = "One for the whole process. ", " for the instances of the question",
			", for all instances", "at the end, and shown every State"
	}
	w.writeHeading("The output")
	w.writeLine("%sIts form: %s%s\n%s", ofProcess, schemaText(w.idea.OutputSchema.Source, w.idea.OutputSchema.Source),
		(&schemaWriter{}).typeComment(w.idea.OutputSchema.Source), w.outputReferencesRule())
	w.writeLine("Where the question asks for it, you say beside the Calls:")
	w.writeLine("- "+finishedText, forWhom, w.ifApprovals("are approved and "))
	w.writeLine(
		`- "output": null, unless "finished" is true and you know all that it needs. Then write it whole%s, as it will be if these Calls succeed. (`+askedAgainText+` Where you give none, you are asked for it %s.)`, forAll, w.ifApprovals(", or a person rejects or changes one"), atEnd)
	if !single {
		w.writeLine(
			`- "notes": null, or a text to yourself. Later questions show it, but not the instances that are finished by then. So, unless you give the output (you would be shown that again), write a line for each instance that these Calls finish: what the output will need of it. ` +
				`Add nothing up, since a Call may still fail. Note, too, what else you want to know later.`)
	}
}

// outputReferencesRule says what a Reference in the output resolves to.
func (w *promptWriter) outputReferencesRule() string {
	switch {
	case w.hasSingleUnnamedInstance():
		return "Any value in it may be a Reference, also to what these Calls bring."
	case !outputMayReferToState(w.idea):
		return "Write plain values, no References."
	}
	return `Any value in it may be a Reference, also to what these Calls bring; "†state.x" is then an object: the x of each instance that has one, by the instance's name. Where the form has no place for that, write values out.`
}

// outputMayReferToState reports whether the output may contain a Reference to State. In a process of several instances
// it resolves to an object.
func outputMayReferToState(idea *ideafile.Idea) bool {
	return isOfSingleUnnamedInstance(idea) || mayHoldObject(idea.OutputSchema.Source, true)
}

// mayHoldObject reports whether a form may have a place for an object whose keys it does not name.
func mayHoldObject(form any, isRoot bool) bool {
	m := jsonval.AsObject(form)
	switch types := jsonschema.TypesAt(form, nil); {
	case types == nil:
		return m["enum"] == nil && m["const"] == nil
	case slices.Contains(types, "object"):
		props := jsonschema.Properties(m)
		return !isRoot || m["additionalProperties"] != false || slices.ContainsFunc(jsonval.SortedKeys(props),
			func(name string) bool { return mayHoldObject(props[name], false) })
	default:
		return slices.Contains(types, "array") && mayHoldObject(m["items"], false)
	}
}

// writeToolResult describes a Tool's result and, if the designer chose that, where it goes.
func (w *promptWriter) writeToolResult(t *ideafile.Tool) {
	switch {
	case t.OutputSchema != nil:
		w.writeLine("Result: %s%s", schemaText(t.OutputSchema.Source, t.OutputSchema.Source),
			(&schemaWriter{}).typeComment(t.OutputSchema.Source))
	case w.bindings[t.Name].Kind == ideafile.KindLatent:
		w.writeLine("Result: string")
	default:
		w.writeLine("Result: any (its form is not known)")
	}
	if t.OutputPath.IsDeclared && t.OutputPath.Schema == nil {
		w.writeLine("The result always goes to %s%s.", w.encode(t.OutputPath.FixedValue),
			outputMethodText(t.OutputMethod.FixedValue))
	}
}

// outputMethodText describes what a fixed output method does with the existing value.
func outputMethodText(method any) string {
	switch method {
	case statelog.MethodPush:
		return ", as one more element of the list there"
	case statelog.MethodConcat:
		return ", added to the list or the text there"
	case "assign", statelog.MethodMerge:
		return ", into the object there"
	}
	return ""
}

// visibleParams is a Tool's parameter schema as the LLM sees it.
func visibleParams(t *ideafile.Tool) any {
	schema, out := schemaWithoutWiredParams(t), jsonval.Object{"type": "object"}
	for _, k := range []string{"properties", "required", "additionalProperties", "$defs", "definitions"} {
		if v, ok := schema[k]; ok {
			out[k] = v
		}
	}
	return out
}

// schemaWithoutWiredParams is a Tool's schema without meta properties and without the parameters that its designer
// wired.
func schemaWithoutWiredParams(t *ideafile.Tool) jsonval.Object {
	out := jsonval.AsObject(jsonschema.WithoutMetaKeys(t.Source))
	if len(t.WiredParams) == 0 {
		return out
	}
	out["properties"] = jsonval.WithoutKey(jsonschema.Properties(out), jsonval.SortedKeys(t.WiredParams)...)
	if required, ok := out["required"].([]any); ok {
		out["required"] = slices.DeleteFunc(slices.Clone(required),
			func(name any) bool { return t.WiredParams[jsonval.AsText(name)] != "" })
	}
	return out
}

// ToolInstructions returns the instructions attached to Tools, by the Tool's name. Those of a single instance are left
// out: they are rendered with its State.
func ToolInstructions(idea *ideafile.Idea) map[string]string {
	instructions := map[string]string{}
	for _, m := range ideafile.WithLatestInstructions(idea.Context) {
		for _, t := range m.ToolNames() {
			if m.InstanceToken == "" {
				instructions[t] = strings.TrimPrefix(instructions[t]+"\n"+m.TextFor(t), "\n")
			}
		}
	}
	return instructions
}
