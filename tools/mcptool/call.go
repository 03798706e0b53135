package mcptool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/tools/runner"
)

// idempotencyKeyMetaField is the field of a call's _meta that holds its idempotency key, which is the same on every
// attempt.
const idempotencyKeyMetaField = "processidea/idempotency-key"

// call calls a tool.
func (c *conn) call(ctx context.Context, toolName string, in runner.Input) (any, *Error) {
	endListening := c.questions.beginListening()
	var r *mcp.CallToolResult
	err := c.runExchange(ctx, func(ctx context.Context) (err error) {
		r, err = c.session.CallTool(ctx, &mcp.CallToolParams{Meta: mcp.Meta{idempotencyKeyMetaField: in.IdempotencyKey},
			Name: toolName, Arguments: in.Params})
		return err
	})
	if question := endListening(); question != nil && err == nil {
		return nil, c.elicitationError(question)
	}
	if err != nil {
		return nil, c.callError(ctx, err)
	}
	if r.NeedsInput() {
		return nil, c.inputRequestError(r.InputRequests)
	}
	resultFields, _, err := decodeExactJSON(r.Meta)
	if err != nil {
		return nil, &Error{Code: ideafile.CodeBadOutput,
			Err: c.redactError(fmt.Errorf("the result cannot be read: %w", err))}
	}
	value, text := parseResult(resultFields, in.FirstFittingReading)
	if isError := resultFields["isError"]; isError == true || isError == "true" {
		return nil, &Error{Code: ideafile.CodeToolFailed, Err: errors.New(c.excerpt(text))}
	}
	return c.redactor.RedactValue(value), nil
}

// callError classifies why a call got no result. The Error's code tells whether the call may still have had its effect.
func (c *conn) callError(ctx context.Context, err error) *Error {
	if u := asRefusal(err); u != nil {
		return u.toError()
	}
	serverErr := serverError(err)
	switch {
	case isDisallowed(err):
		return &Error{Code: ideafile.CodeMCPServerNotAllowed, Err: c.redactError(err)}
	case ctx.Err() != nil:
		return &Error{Code: ideafile.CodeToolFailed, IsRetryable: true, Err: ctx.Err()}
	case serverErr != nil && serverErr.Code == unreadableAnswerCode:
		return &Error{Code: ideafile.CodeBadOutput, Err: errors.New(serverErr.Message)}
	case serverErr != nil:
		return &Error{Code: ideafile.CodeToolFailed, Err: errors.New(c.excerpt(errorText(serverErr)))}
	}
	if errors.Is(err, errMessageTooLarge) || isSizeError(err) ||
		(c.hasSentTooLargeMessage != nil && c.hasSentTooLargeMessage()) {
		return &Error{Code: ideafile.CodeBadOutput, Err: errMessageTooLarge}
	}
	return &Error{Code: ideafile.CodeOutcomeUnknown, IsRetryable: true,
		Err: c.redactError(fmt.Errorf("the connection broke during the call: %w%s", err, c.stderrText()))}
}

// errorText returns the text of an error. Many servers put the cause only in its data, beside "Invalid params".
func errorText(e *jsonrpc.Error) string {
	text := cmp.Or(e.Message, fmt.Sprintf("error %d", e.Code))
	if data := string(e.Data); !slices.Contains([]string{"", "null", `""`, "{}"}, data) {
		text += ": " + data
	}
	return text
}

// isSizeError reports whether the SDK gave up on a message because of its size; it has no error of its own for that.
func isSizeError(err error) bool {
	text := err.Error()
	return strings.Contains(text, "SSE event exceeded") ||
		strings.Contains(text, "exceeded the configured maximum line length")
}

// inputRequestError returns the Error for a tool that asks for input before it goes on.
func (c *conn) inputRequestError(requests mcp.InputRequestMap) *Error {
	for _, r := range requests {
		question, ok := r.(*mcp.ElicitParams)
		if !ok {
			return &Error{Code: ideafile.CodeToolFailed,
				Err: errors.New("the server asks for the use of an LLM or of folders, which it is not given")}
		}
		return c.elicitationError(question)
	}
	return &Error{Code: ideafile.CodeMCPUnreachable, IsRetryable: true, Err: errors.New("the server is busy")}
}

func (c *conn) elicitationError(question *mcp.ElicitParams) *Error {
	text := "the tool asks: " + c.excerpt(question.Message)
	if question.URL != "" {
		text += " (at " + c.excerpt(question.URL) + ")"
	}
	if questionFields, _, _ := decodeExactJSON(question.Meta); questionFields["requestedSchema"] != nil {
		text += " Wanted: " + c.excerpt(jsonval.EncodeToString(questionFields["requestedSchema"]))
	} else if form := jsonval.ToJSONValue(question.RequestedSchema); form != nil {
		text += " Wanted: " + c.excerpt(jsonval.EncodeToString(form))
	}
	return &Error{Code: ideafile.CodeMCPInputRequired, Err: errors.New(text)}
}

// excerpt returns the beginning of a server's text. Secrets are removed first, because half a secret would not be
// found.
func (c *conn) excerpt(s string) string {
	return jsonval.Clip(c.redactor.RedactText(strings.TrimSpace(s)), 1000)
}
