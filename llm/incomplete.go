package llm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// isContentFiltered reports whether a reply ended because the server forbids its content. Servers use several names for
// that.
func isContentFiltered(finishReason string) bool {
	reason, _, _ := strings.Cut(strings.ToLower(finishReason), ":") // Google: "content_filter: RECITATION"
	switch strings.TrimPrefix(reason, "image_") {
	case "content_filter", "content_filtered", "sensitive", "safety", "recitation", "prohibited_content", "blocklist",
		"spii", "guardrail_intervened":
		return true
	}
	return false
}

// isLengthLimit reports whether a reply ended because it reached the LLM's length limit. Servers use several names for
// that.
func isLengthLimit(finishReason string) bool {
	switch strings.ToLower(finishReason) {
	case "length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded":
		return true
	}
	return false
}

// isServerAbort reports whether a server gave up on a reply, in the words of DeepSeek, Zhipu, vLLM, SGLang and watsonx.
func isServerAbort(finishReason string) bool {
	switch strings.ToLower(finishReason) {
	case "insufficient_system_resource", "network_error", "abort", "aborted", "cancelled", "time_limit":
		return true
	}
	return false
}

// incompleteFault classifies why a solution is incomplete. parseErr is the parser's error; streamErr says how the
// stream ended before the parser was done.
func (x *exchange) incompleteFault(reader *replyReader, parseErr, streamErr error) *diag.Fault {
	r := reader.reply
	var unbounded unboundedReplyError
	var preamble noJSONError
	isTruncated := errors.Is(parseErr, errTruncated)
	switch {
	case r.Refusal != "":
		return newFault(turn.CodeRefusal, "the LLM refused: "+x.redact(r.Refusal))
	case isContentFiltered(r.FinishReason):
		return newFault(turn.CodeRefusal, "a content filter ended the reply")
	case errors.As(parseErr, &unbounded), errors.As(streamErr, &unbounded):
		return newFault(turn.CodeEndlessReply, unbounded.Error())
	case isLengthLimit(r.FinishReason) && (reader.filter.byteCount == 0 && reader.hasThoughts ||
		reader.filter.hasOnlyThoughts()):
		return newFault(turn.CodeTruncated, "the LLM spent all that it may write on reasoning; let it write more "+
			"(config.llm.maxTokens), or choose one that reasons less")
	case isLengthLimit(r.FinishReason):
		return newFault(turn.CodeTruncated, "the reply was longer than the LLM may write")
	case errors.Is(streamErr, errNotUTF8):
		return newFault(turn.CodeNotJSON, "the reply cannot be read: "+errNotUTF8.Error())
	case errors.As(streamErr, &preamble):
		return newFault(turn.CodeNotJSON, "the reply is no JSON object: "+preamble.Error())
	case isTruncated && streamErr != nil:
		return newFault(turn.CodeTruncated, "the stream broke off: "+x.redact(streamErr.Error()))
	case isTruncated && r.FinishReason == "":
		message := "the stream ended before the reply did"
		if text := toOneLine(reader.stream.strayLines); text != "" {
			message += "; the server sent a text in its place: " + x.redactedExcerpt(text)
		}
		return newFault(turn.CodeTruncated, message)
	}
	return newFault(turn.CodeNotJSON, "the reply is not of the form: "+jsonval.Clip(parseErr.Error(),
		maxErrorMessageChars))
}

func newFault(code, message string) *diag.Fault { return &diag.Fault{Code: code, Message: message} }

// functionCallFault reports that the LLM called functions instead of writing its reply, and that they could not be read
// as the reply.
func (r *replyReader) functionCallFault(parseErr error) *diag.Fault {
	var unbounded unboundedReplyError
	isMalformed := parseErr != nil && !errors.As(parseErr, &unbounded) && !isLengthLimit(r.reply.FinishReason) &&
		r.reply.Refusal == ""
	switch {
	case len(r.calledFunctionNames) == 0, r.filter.isInObject && !r.isFromFunctionCall:
		return nil
	case len(r.calledFunctionNames) > 1 && (isMalformed || parseErr == nil):
		return newFault(turn.CodeNotJSON,
			fmt.Sprintf("the reply came as %d function calls (%s), and only the first was read: "+
				`there are no functions; write one JSON object {"calls": […], "output": …} as the message`,
				len(r.calledFunctionNames), quoteFunctionNames(r.calledFunctionNames)))
	case isMalformed:
		return newFault(turn.CodeNotJSON,
			fmt.Sprintf("the reply came as a call of the function %s, and its arguments are not of the form: %s; "+
				`write the JSON object {"calls": […], "output": …} as the message`, quoteFunctionNames(r.calledFunctionNames),
				jsonval.Clip(parseErr.Error(), maxErrorMessageChars)))
	}
	return nil
}

func quoteFunctionNames(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, strconv.Quote(jsonval.Clip(name, 60)))
	}
	return strings.Join(list, ", ")
}
