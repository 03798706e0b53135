package turn

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// ReadLLMAnswer reads the answer to one LLMQuestion: {"_call","_params"} or {"_call","_output"}. It returns the
// question, and either the adapted params or, with params nil, the output.
func ReadLLMAnswer(i *ideafile.Idea, in *RequestInput,
	w ideafile.WrittenCall) (q LLMQuestion, output any, params jsonval.Object, f *diag.Fault) {
	answer := w.RawObject()
	if answer == nil {
		return q, nil, nil, diag.Faultf(ideafile.CodeBadForm, "a result is an object, not %s",
			jsonval.TypeOf(w.AsWritten()))
	}
	id := jsonval.AsText(answer["_call"])
	at := slices.IndexFunc(in.Questions, func(q LLMQuestion) bool { return q.CallID == id })
	if at < 0 {
		return q, nil, nil, diag.Faultf(ideafile.CodeBadForm, "no result of a Call %q was asked for",
			jsonval.ClipForError(id))
	}
	q = in.Questions[at]
	if q.ParamsError != "" {
		params, ok := answer["_params"].(jsonval.Object)
		if !ok {
			return q, nil, nil, diag.Faultf(ideafile.CodeBadForm, "what is to be fitted of %s has no _params", id)
		}
		return q, nil, i.Tool(q.Tool).WithoutNullParams(params), nil
	}
	output, ok := answer["_output"]
	if !ok {
		return q, nil, nil, diag.Faultf(ideafile.CodeBadForm, "the result of %s has no _output", id)
	}
	output, f = checkAnsweredResult(i.Tool(q.Tool), id, output)
	return q, output, nil, f
}

// checkAnsweredResult drops nulls for absent properties and validates the rest. An output with BlobHandles is validated
// by the activity that loads their values.
func checkAnsweredResult(t *ideafile.Tool, id string, output any) (any, *diag.Fault) {
	if t == nil {
		return output, nil
	}
	output = t.OutputSchema.WithoutNulls(output)
	if jsonval.ContainsBlobHandle(output) {
		return output, nil
	}
	if err := t.OutputSchema.Validate(output); err != nil {
		return nil, diag.Faultf(ideafile.CodeBadOutput, "the result of %s: %s", id, err)
	}
	return output, nil
}
