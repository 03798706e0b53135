package turn

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// ReadLLMAnswer reads the answer to one LLMQuestion: {"_call","_params"} or {"_call","_output"}. It returns the
// question, and either the adapted params or, with params nil, the output.
func ReadLLMAnswer(idea *ideafile.Idea, in *RequestInput,
	writtenAnswer ideafile.WrittenCall) (question QuestionToLLM, output any, params jsonval.Object, fault *diag.Fault) {
	answer := writtenAnswer.RawObject()
	if answer == nil {
		return question, nil, nil, diag.Faultf(ideafile.CodeBadForm, "a result is an object, not %s",
			jsonval.TypeOf(writtenAnswer.AsWritten()))
	}
	callID := jsonval.AsText(answer["_call"])
	index := slices.IndexFunc(in.Questions, func(question QuestionToLLM) bool { return question.CallID == callID })
	if index < 0 {
		return question, nil, nil, diag.Faultf(ideafile.CodeBadForm, "no result of a Call %q was asked for",
			jsonval.ClipForError(callID))
	}
	question = in.Questions[index]
	if question.ParamsError != "" {
		params, ok := answer["_params"].(jsonval.Object)
		if !ok {
			return question, nil, nil, diag.Faultf(ideafile.CodeBadForm, "what is to be fitted of %s has no _params",
				callID)
		}
		return question, nil, idea.Tool(question.Tool).WithoutNullParams(params), nil
	}
	output, ok := answer["_output"]
	if !ok {
		return question, nil, nil, diag.Faultf(ideafile.CodeBadForm, "the result of %s has no _output", callID)
	}
	output, fault = cleanAndCheckResult(idea.Tool(question.Tool), callID, output)
	return question, output, nil, fault
}

// cleanAndCheckResult drops nulls for absent properties and validates the rest. An output with BlobHandles is validated
// by the activity that loads their values.
func cleanAndCheckResult(t *ideafile.Tool, callID string, output any) (any, *diag.Fault) {
	if t == nil {
		return output, nil
	}
	output = t.OutputSchema.WithoutNulls(output)
	if jsonval.ContainsBlobHandle(output) {
		return output, nil
	}
	if err := t.OutputSchema.Validate(output); err != nil {
		return nil, diag.Faultf(ideafile.CodeBadOutput, "the result of %s: %s", callID, err)
	}
	return output, nil
}
