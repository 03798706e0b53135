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

// keyMeta is the field of a call's _meta that holds its idempotency key, which is the same on every attempt.
const keyMeta = "processidea/idempotency-key"

// call calls a tool.
func (c *conn) call(ctx context.Context, tool string, in runner.Input) (any, *Error) {
	question := c.asked.listen()
	var r *mcp.CallToolResult
	err := c.runExchange(ctx, func(ctx context.Context) (err error) {
		r, err = c.session.CallTool(ctx, &mcp.CallToolParams{Meta: mcp.Meta{keyMeta: in.IdempotencyKey},
			Name: tool, Arguments: in.Params})
		return err
	})
	if asked := question(); asked != nil && err == nil {
		return nil, c.elicitError(asked)
	}
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	if r.NeedsInput() {
		return nil, c.inputError(r.InputRequests)
	}
	meta, _, err := decodeExact(r.Meta)
	if err != nil {
		return nil, &Error{Code: ideafile.CodeBadOutput,
			Err: c.strikeError(fmt.Errorf("the result cannot be read: %w", err))}
	}
	value, text := resultOf(meta, in.FirstFit)
	if failed := meta["isError"]; failed == true || failed == "true" {
		return nil, &Error{Code: ideafile.CodeToolFailed, Err: errors.New(c.excerpt(text))}
	}
	return c.striker.RedactValue(value), nil
}

// failed classifies why a call got no result. The Error's code tells whether the call may still have had its effect.
func (c *conn) failed(ctx context.Context, err error) *Error {
	if u := refusalIn(err); u != nil {
		return u.failure()
	}
	message := serverError(err)
	switch {
	case isRefused(err):
		return &Error{Code: ideafile.CodeMCPRefused, Err: c.strikeError(err)}
	case ctx.Err() != nil:
		return &Error{Code: ideafile.CodeToolFailed, Retry: true, Err: ctx.Err()}
	case message != nil && message.Code == codeUnreadable:
		return &Error{Code: ideafile.CodeBadOutput, Err: errors.New(message.Message)}
	case message != nil:
		return &Error{Code: ideafile.CodeToolFailed, Err: errors.New(c.excerpt(errorText(message)))}
	}
	if errors.Is(err, errTooLarge) || tooLarge(err) || (c.tooLarge != nil && c.tooLarge()) {
		return &Error{Code: ideafile.CodeBadOutput, Err: errTooLarge}
	}
	return &Error{Code: ideafile.CodeOutcomeUnknown, Retry: true,
		Err: c.strikeError(fmt.Errorf("the connection broke during the call: %w%s", err, c.stderr()))}
}

// errorText returns the text of an error. Many servers put the cause only in its data, beside "Invalid params".
func errorText(e *jsonrpc.Error) string {
	text := cmp.Or(e.Message, fmt.Sprintf("error %d", e.Code))
	if data := string(e.Data); !slices.Contains([]string{"", "null", `""`, "{}"}, data) {
		text += ": " + data
	}
	return text
}

// tooLarge reports whether the SDK gave up on a message because of its size; it has no error of its own for that.
func tooLarge(err error) bool {
	text := err.Error()
	return strings.Contains(text, "SSE event exceeded") ||
		strings.Contains(text, "exceeded the configured maximum line length")
}

// inputError returns the Error for a tool that asks for input before it goes on.
func (c *conn) inputError(requests mcp.InputRequestMap) *Error {
	for _, r := range requests {
		asked, ok := r.(*mcp.ElicitParams)
		if !ok {
			return &Error{Code: ideafile.CodeToolFailed,
				Err: errors.New("the server asks for the use of an LLM or of folders, which it is not given")}
		}
		return c.elicitError(asked)
	}
	return &Error{Code: ideafile.CodeMCPUnreachable, Retry: true, Err: errors.New("the server is busy")}
}

func (c *conn) elicitError(asked *mcp.ElicitParams) *Error {
	text := "the tool asks: " + c.excerpt(asked.Message)
	if asked.URL != "" {
		text += " (at " + c.excerpt(asked.URL) + ")"
	}
	if meta, _, _ := decodeExact(asked.Meta); meta["requestedSchema"] != nil {
		text += " Wanted: " + c.excerpt(jsonval.EncodeToString(meta["requestedSchema"]))
	} else if form := jsonval.ToJSONValue(asked.RequestedSchema); form != nil {
		text += " Wanted: " + c.excerpt(jsonval.EncodeToString(form))
	}
	return &Error{Code: ideafile.CodeMCPInputRequired, Err: errors.New(text)}
}

// excerpt returns the beginning of a server's text. Secrets are removed first, because half a secret would not be
// found.
func (c *conn) excerpt(s string) string {
	return jsonval.Clip(c.striker.RedactText(strings.TrimSpace(s)), 1000)
}
