package llm

import (
	"errors"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// incomplete classifies why a solution did not come to its end: parseErr is what the parser met, streamErr how the stream
// ended before the parser was done.
func (x *exchange) incomplete(r *Reply, parseErr, streamErr error) *diag.Fault {
	var unbounded errUnbounded
	var preamble errPreamble
	truncated := errors.Is(parseErr, errTruncated)
	switch {
	case r.Refusal != "":
		return fault(turn.CodeRefusal, "the LLM refused: "+x.redact(r.Refusal))
	case r.Finish == "content_filter":
		return fault(turn.CodeRefusal, "a content filter ended the reply")
	case errors.As(parseErr, &unbounded), errors.As(streamErr, &unbounded):
		return fault(turn.CodeEndlessReply, unbounded.Error())
	case r.Finish == "length":
		return fault(turn.CodeTruncated, "the reply was longer than the LLM may write")
	case errors.As(streamErr, &preamble):
		return fault(turn.CodeNotJSON, "the reply is no JSON object: "+preamble.Error())
	case truncated && streamErr != nil:
		return fault(turn.CodeTruncated, "the stream broke off: "+x.redact(streamErr.Error()))
	case truncated && r.Finish == "":
		return fault(turn.CodeTruncated, "the stream ended before the reply did")
	}
	return fault(turn.CodeNotJSON, "the reply is not of the form: "+jsonval.Clip(parseErr.Error(), maxMessage))
}

func fault(code, message string) *diag.Fault { return &diag.Fault{Code: code, Message: message} }
