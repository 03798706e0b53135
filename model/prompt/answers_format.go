package prompt

import (
	"fmt"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// correctionChoices are the schemas of the entries with corrected parameters for one Tool: one choice for each set of
// parameter names.
func (b *formatBuilder) correctionChoices(t *ideafile.Tool, questions []turn.Question) []any {
	var nameSets []string
	idsBySet, namesBySet := map[string][]any{}, map[string][]string{}
	for _, question := range questions {
		if question.Tool != t.Name || question.ParamsError == "" {
			continue
		}
		paramNames := string(jsonval.Encode(jsonval.Normal(jsonval.SortedKeys(question.Params))))
		if idsBySet[paramNames] == nil {
			nameSets = append(nameSets, paramNames)
		}
		idsBySet[paramNames], namesBySet[paramNames] = append(idsBySet[paramNames], question.ID), jsonval.SortedKeys(question.Params)
	}
	var choices []any
	for n, paramNames := range nameSets {
		props, _ := t.ParamsSchemaSource()["properties"].(map[string]any)
		var fields []jsonval.Field
		for _, k := range namesBySet[paramNames] {
			fields = append(fields, jsonval.Field{Key: k, Value: b.correctedParamSchema(t, k, props[k], n)})
		}
		choices = append(choices, closedObject(
			jsonval.Field{Key: "_call", Value: stringEnum(idsBySet[paramNames])},
			jsonval.Field{Key: "_params", Value: closedObject(fields...)}))
	}
	return choices
}

// correctedParamSchema is the schema of one corrected parameter.
func (b *formatBuilder) correctedParamSchema(t *ideafile.Tool, name string, schema any, setIndex int) any {
	if schema == nil {
		schema = map[string]any{}
	}
	var result any
	if b.strict {
		strictSchema, reason := toStrict(jsonschema.InlineRefs(t.Source, schema), nil)
		if reason != "" {
			b.rejectStrict(fmt.Sprintf("tool %s, parameter %q", t.Name, name), reason)
		}
		result = strictSchema
	} else {
		defName := fmt.Sprintf("fit%d_%s", setIndex, t.Name)
		if !b.hasDefinition(defName) {
			b.defineRebased(defName, t.ParamsSchemaSource())
		}
		result = refSchema(definitionRef(defName) + "/properties/" + jsonschema.EscapePointer(name))
	}
	if !t.Requires(name) {
		result = nullable(result)
	}
	return result
}

func (b *formatBuilder) hasDefinition(name string) bool {
	return slices.ContainsFunc(b.defs, func(f jsonval.Field) bool { return f.Key == name })
}

// asksForCorrections reports whether the Request asks for corrected parameters.
func asksForCorrections(request *turn.RequestInput) bool {
	return slices.ContainsFunc(request.Questions, func(question turn.Question) bool { return question.ParamsError != "" })
}

// answersFormat is the format of a reply that holds nothing but results of latent Calls, {"calls": [{"_call",
// "_output"}]}, and corrected parameters, {"calls": [{"_call", "_params"}]}.
func answersFormat(idea *ideafile.Idea, request *turn.RequestInput) ResponseFormat {
	in := FormatInput{Tools: idea.Tools, ToolInstructions: ToolInstructions(idea)}
	return strictIfPossible(in, func(b *formatBuilder) any { return b.answersSchema(request.Questions) })
}

func (b *formatBuilder) answersSchema(questions []turn.Question) any {
	choices := []any{}
	for _, t := range b.input.Tools {
		choices = append(choices, b.correctionChoices(t, questions)...)
		ids := []any{}
		for _, question := range questions {
			if question.Tool == t.Name && question.ParamsError == "" {
				ids = append(ids, question.ID)
			}
		}
		if len(ids) > 0 {
			choices = append(choices, b.resultChoice(t, ids))
		}
	}
	calls := arrayOf(jsonval.Ordered{{Key: "anyOf", Value: choices}})
	return b.withDefinitions(closedObject(jsonval.Field{Key: "calls", Value: calls}, jsonval.Field{Key: "output", Value: typeSchema("null")}))
}

// resultChoice is the schema of the entries with results for one Tool's Calls.
func (b *formatBuilder) resultChoice(t *ideafile.Tool, ids []any) jsonval.Ordered {
	choice := closedObject(jsonval.Field{Key: "_call", Value: stringEnum(ids)}, jsonval.Field{Key: "_output", Value: b.resultSchema(t)})
	if instruction := b.input.ToolInstructions[t.Name]; instruction != "" {
		choice = append(jsonval.Ordered{{Key: "description", Value: instruction}}, choice...)
	}
	return choice
}
