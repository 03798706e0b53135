package prompt

import (
	"fmt"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// adaptationChoices are the schemas of the entries with corrected parameters for one Tool, one for each set of
// parameter names.
func (b *formatBuilder) adaptationChoices(t *ideafile.Tool, questions []turn.QuestionToLLM) []any {
	var paramNameSets [][]string
	var callIDsBySet [][]string
	for _, question := range questions {
		if question.Tool != t.Name || question.ParamsError == "" {
			continue
		}
		names := jsonval.SortedKeys(question.Params)
		setIndex := slices.IndexFunc(paramNameSets, func(knownNames []string) bool { return slices.Equal(knownNames, names) })
		if setIndex < 0 {
			setIndex, paramNameSets, callIDsBySet = len(paramNameSets), append(paramNameSets, names), append(callIDsBySet, nil)
		}
		callIDsBySet[setIndex] = append(callIDsBySet[setIndex], question.CallID)
	}
	var choices []any
	for n, names := range paramNameSets {
		props := jsonschema.Properties(t.ParamsSchemaSource())
		var fields jsonval.OrderedObject
		for _, k := range names {
			fields = fields.Append(k, b.adaptedParamSchema(t, k, props[k], n))
		}
		entry := jsonval.OrderedObject{}.Append("_call", stringEnum(callIDsBySet[n]...))
		choices = append(choices, closedObjectSchema(entry.Append("_params", closedObjectSchema(fields))))
	}
	return choices
}

// adaptedParamSchema is the schema of one corrected parameter.
func (b *formatBuilder) adaptedParamSchema(t *ideafile.Tool, name string, schema any, paramNameSetIndex int) any {
	if schema == nil {
		schema = jsonval.Object{}
	}
	definitionName := fmt.Sprintf("fit%d_%s", paramNameSetIndex, t.Name)
	if !b.isStrict && b.defs.Value(definitionName) == nil {
		b.addRebasedDefinition(definitionName, t.ParamsSchemaSource())
	}
	result := b.declaredParamSchema(t, name, schema, definitionName)
	if !t.RequiresParam(name) {
		return nullableSchema(result)
	}
	return result
}

// answersFormat is the format of a reply that holds only results of latent Calls, {"calls": [{"_call", "_output"}]},
// and corrected parameters, {"calls": [{"_call", "_params"}]}.
func answersFormat(idea *ideafile.Idea, request *turn.RequestInput) ResponseFormat {
	in := ResponseFormatInput{Tools: idea.Tools, InstructionsByTool: ToolInstructions(idea)}
	return buildStrictIfPossible(in, func(b *formatBuilder) any { return b.answersSchema(request.Questions) })
}

func (b *formatBuilder) answersSchema(questions []turn.QuestionToLLM) any {
	choices := []any{}
	for _, t := range b.input.Tools {
		choices = append(choices, b.adaptationChoices(t, questions)...)
		var latentCallIDs []string
		for _, question := range questions {
			if question.Tool == t.Name && question.ParamsError == "" {
				latentCallIDs = append(latentCallIDs, question.CallID)
			}
		}
		if len(latentCallIDs) > 0 {
			choices = append(choices, b.resultChoice(t, latentCallIDs))
		}
	}
	calls := arraySchema(anyOfSchema(choices...))
	return b.withDefinitions(closedObjectSchema(jsonval.OrderedObject{}.Append("calls", calls)))
}

// resultChoice is the schema of the entries with results for one Tool's Calls.
func (b *formatBuilder) resultChoice(t *ideafile.Tool, latentCallIDs []string) jsonval.OrderedObject {
	entry := jsonval.OrderedObject{}.Append("_call", stringEnum(latentCallIDs...)).Append("_output", b.resultSchema(t))
	return append(schemaWithDescription(b.input.InstructionsByTool[t.Name]), closedObjectSchema(entry)...)
}
