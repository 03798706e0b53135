package prompt

import (
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// writeToolDescriptions describes the Tools in words, since not every server shows the LLM the response format's
// schema.
func (w *promptWriter) writeToolDescriptions() {
	if len(w.idea.Tools) > 0 {
		w.writeHeading("Tools")
	}
	instructions := ToolInstructions(w.idea)
	for _, t := range w.idea.Tools {
		w.writeLine("\n### %s", t.Name)
		w.writeQuoted("", t.Description, instructions[t.Name])
		params := visibleParamsSchema(t)
		w.writeLine("Parameters: %s", schemaText(params, params))
		w.writeToolResult(t)
		if w.bindings[t.Name].Kind == ideafile.KindLatent {
			w.writeLine("You are this tool.")
		}
	}
	if w.idea.OutputSchema != nil {
		w.writeTemplate("output")
	}
}

// outputTemplate describes the output, and when the LLM gives it.
const outputTemplate = `{{define "finished"}}"finished": true if nothing is left to plan{{if and .WantsOutput .HasSeveralInstances}} for the instances of the question{{end}} once these Calls {{if .MayNeedApproval}}are approved and {{end}}have succeeded, even if you doubt that they will; otherwise false.{{end}}
{{define "askedAgain"}}If one fails{{if .MayNeedApproval}}, or a person rejects or changes one{{end}}, you are asked again.{{end}}
{{define "output"}}
## The output
{{if .HasSeveralInstances}}One for the whole process. {{end}}Its form: {{.OutputForm}}
{{if not .HasSeveralInstances}}Any value in it may be a Reference, also to what these Calls bring.{{else if .OutputMayReferToState}}Any value in it may be a Reference, also to what these Calls bring; "†state.x" is then an object: the x of each instance that has one, by the instance's name. Where the form has no place for that, write values out.{{else}}Write plain values, no References.{{end}}
Where the question asks for it, you say beside the Calls:
- {{template "finished" .}}
- "output": null, unless "finished" is true and you know all that it needs. Then write it whole{{if .HasSeveralInstances}}, for all instances{{end}}, as it will be if these Calls succeed. ({{template "askedAgain" .}} Where you give none, you are asked for it at the end{{if .HasSeveralInstances}}, and shown every State{{end}}.)
{{if .HasSeveralInstances}}- "notes": null, or a text to yourself. Later questions show it, but not the instances that are finished by then. So, unless you give the output (you would be shown that again), write a line for each instance that these Calls finish: what the output will need of it. Add nothing up, since a Call may still fail. Note, too, what else you want to know later.
{{end}}{{end}}`

// OutputForm is the form of the output.
func (w *promptWriter) OutputForm() string { return schemaTextWithComment(w.idea.OutputSchema.Source) }

// OutputMayReferToState is outputMayReferToState for the process of this prompt.
func (w *promptWriter) OutputMayReferToState() bool { return outputMayReferToState(w.idea) }

// outputMayReferToState reports whether the output may contain a Reference to State. In a process of several instances
// such a Reference resolves to an object.
func outputMayReferToState(idea *ideafile.Idea) bool {
	return hasOnlyUnnamedInstance(idea) || mayHoldOpenObject(idea.OutputSchema.Source, true)
}

// mayHoldOpenObject reports whether a schema may allow, in some place, an object with keys that the schema does not name.
func mayHoldOpenObject(schema any, isRoot bool) bool {
	m := jsonval.AsObject(schema)
	switch types := jsonschema.TypesAt(schema, nil); {
	case types == nil:
		return m["enum"] == nil && m["const"] == nil
	case slices.Contains(types, "object"):
		props := jsonschema.Properties(m)
		return !isRoot || m["additionalProperties"] != false || slices.ContainsFunc(jsonval.SortedKeys(props),
			func(name string) bool { return mayHoldOpenObject(props[name], false) })
	default:
		return slices.Contains(types, "array") && mayHoldOpenObject(m["items"], false)
	}
}

// writeToolResult describes a Tool's result and, if the designer chose that, where it goes.
func (w *promptWriter) writeToolResult(t *ideafile.Tool) {
	switch {
	case t.OutputSchema != nil:
		w.writeLine("Result: %s", schemaTextWithComment(t.OutputSchema.Source))
	case w.bindings[t.Name].Kind == ideafile.KindLatent:
		w.writeLine("Result: string")
	default:
		w.writeLine("Result: any (its form is not known)")
	}
	if t.OutputPath.IsDeclared && t.OutputPath.Schema == nil {
		w.writeLine("The result always goes to %s%s.", w.JSON(t.OutputPath.FixedValue),
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

// visibleParamsSchema is a Tool's parameter schema as the LLM sees it.
func visibleParamsSchema(t *ideafile.Tool) any {
	return jsonval.WithKey(jsonval.WithOnlyKeys(schemaWithoutWiredParams(t), "properties", "required",
		"additionalProperties", "$defs", "definitions"), "type", "object")
}

// schemaWithoutWiredParams is a Tool's schema without meta properties and without the parameters that its designer
// wired.
func schemaWithoutWiredParams(t *ideafile.Tool) jsonval.Object {
	out := jsonval.AsObject(jsonschema.WithoutMetaKeys(t.Source))
	if len(t.WiredExpressionByParam) == 0 {
		return out
	}
	out["properties"] = jsonval.WithoutKey(jsonschema.Properties(out), jsonval.SortedKeys(t.WiredExpressionByParam)...)
	if required, ok := out["required"].([]any); ok {
		out["required"] = slices.DeleteFunc(slices.Clone(required),
			func(name any) bool { return t.WiredExpressionByParam[jsonval.AsText(name)] != "" })
	}
	return out
}

// ToolInstructions returns the instructions attached to Tools, by the Tool's name. Those of a single instance are left
// out: they are rendered with its State.
func ToolInstructions(idea *ideafile.Idea) map[string]string {
	instructionsByTool := map[string]string{}
	for _, m := range ideafile.WithoutSupersededInstructions(idea.Context) {
		for _, t := range m.AllInstructionToolNames() {
			if m.InstanceToken == "" {
				instructionsByTool[t] = strings.TrimPrefix(instructionsByTool[t]+"\n"+m.InstructionTextFor(t), "\n")
			}
		}
	}
	return instructionsByTool
}
