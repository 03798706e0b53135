package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"processidea/model/turn"
)

// requestMetadataKey is the metadata key of a batch that holds the key of its Request.
const requestMetadataKey = "process_idea"

// maxSearchedBatches bounds how many batches are searched for one that was sent before.
const maxSearchedBatches = 1000

// SendBatch sends a Request through the server's batch interface and returns the batch's id. If the server already has
// a batch with this key, the Request is not sent again. The error is of type *Error.
func (c *Client) SendBatch(ctx context.Context, r Request, requestKey string) (batchID string, err error) {
	x := c.newExchange(r)
	if heldErr := c.circuitBreaker.admit(x.params.Model, time.Now(), x.request.GiveUpAt); heldErr != nil {
		return "", heldErr
	}
	batchID, err = x.findBatch(ctx, requestKey)
	if err == nil && batchID == "" {
		batchID, err = x.createBatch(ctx, requestKey)
	}
	if err != nil {
		return "", x.batchError(ctx, err)
	}
	return batchID, nil
}

func (x *exchange) findBatch(ctx context.Context, requestKey string) (string, error) {
	list := x.api.Batches.ListAutoPaging(ctx, openai.BatchListParams{Limit: param.NewOpt[int64](100)},
		x.headerOptions...)
	for n := 0; n < maxSearchedBatches && list.Next(); n++ {
		if b := list.Current(); b.Metadata[requestMetadataKey] == requestKey {
			return b.ID, nil
		}
	}
	return "", list.Err()
}

func (x *exchange) createBatch(ctx context.Context, requestKey string) (string, error) {
	line, err := x.encodeBatchLine(requestKey)
	if err != nil {
		return "", err
	}
	file, err := x.api.Files.New(ctx, openai.FileNewParams{
		File:    openai.File(bytes.NewReader(line), requestKey+".jsonl", "application/jsonl"),
		Purpose: openai.FilePurposeBatch,
	}, x.headerOptions...)
	if err != nil {
		return "", err
	}
	b, err := x.api.Batches.New(ctx, openai.BatchNewParams{
		InputFileID: file.ID, Endpoint: openai.BatchNewParamsEndpointV1ChatCompletions,
		CompletionWindow: openai.BatchNewParamsCompletionWindow24h,
		Metadata:         map[string]string{requestMetadataKey: requestKey},
	}, x.headerOptions...)
	if err != nil {
		return "", err
	}
	return b.ID, nil
}

// encodeBatchLine returns the batch's input: one line for the one Request.
func (x *exchange) encodeBatchLine(requestKey string) ([]byte, error) {
	x.params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	body, err := x.encodeBody(false)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(map[string]any{"custom_id": requestKey, "method": http.MethodPost,
		"url":  "/v1/chat/completions",
		"body": json.RawMessage(body)})
	return append(line, '\n'), err
}

// ReadBatch returns the completion for the Request with a key, as JSON, once the batch has it. The error is of type
// *Error; while the batch is in progress, it is retryable and has a suitable interval.
func (c *Client) ReadBatch(ctx context.Context, batchID, requestKey string) (completion []byte, err error) {
	x := c.newExchange(Request{})
	if heldErr := c.circuitBreaker.admit(x.params.Model, time.Now(), x.request.GiveUpAt); heldErr != nil {
		return nil, heldErr
	}
	b, err := x.api.Batches.Get(ctx, batchID, x.headerOptions...)
	if err != nil {
		return nil, x.batchError(ctx, err)
	}
	switch b.Status {
	case openai.BatchStatusCompleted, openai.BatchStatusExpired, openai.BatchStatusCancelled:
		for _, fileID := range []string{b.OutputFileID, b.ErrorFileID} {
			if fileID == "" {
				continue
			}
			output, err := x.findBatchOutput(ctx, fileID, requestKey)
			if err != nil {
				return nil, x.batchError(ctx, err)
			}
			if output != nil {
				return output.completion(x)
			}
		}
		return nil, &Error{Code: turn.CodeLLMError, Message: fmt.Sprintf("the batch %s is %s, and has no answer",
			batchID, b.Status)}
	case openai.BatchStatusFailed:
		var causes []string
		for _, e := range b.Errors.Data {
			causes = append(causes, e.Message)
		}
		return nil, &Error{Code: turn.CodeLLMError,
			Message: x.redact(fmt.Sprintf("the batch %s has failed: %s", batchID, strings.Join(causes, "; ")))}
	}
	return nil, &Error{
		Code: turn.CodeLLMUnreachable, IsRetryable: true, IsBatchPending: true,
		RetryAfter: batchPollInterval(time.Since(time.Unix(b.CreatedAt, 0))),
		Message:    fmt.Sprintf("the batch %s is %s", batchID, cmp.Or(string(b.Status), "on its way")),
	}
}

// The interval between two polls of a batch is an eighth of its age, within these bounds.
const (
	minBatchPollInterval = 2 * time.Second
	maxBatchPollInterval = 10 * time.Minute
)

func batchPollInterval(batchAge time.Duration) time.Duration {
	return min(max(batchAge/8, minBatchPollInterval), maxBatchPollInterval)
}

// batchOutputLine is a line of a batch's output file or error file.
type batchOutputLine struct {
	CustomID string `json:"custom_id"`
	Response *struct {
		StatusCode int             `json:"status_code"`
		Body       json.RawMessage `json:"body"`
	} `json:"response"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// findBatchOutput returns the first line with a key in a file of the server; nil if there is none.
func (x *exchange) findBatchOutput(ctx context.Context, fileID, requestKey string) (*batchOutputLine, error) {
	response, err := x.api.Files.Content(ctx, fileID, x.headerOptions...)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	lineScanner := bufio.NewScanner(response.Body)
	lineScanner.Buffer(nil, 2*maxReplyBytes)
	var firstStrayLine []byte // the beginning of the first line that is no JSON
	hasOtherOutput := false
	for lineScanner.Scan() {
		var output batchOutputLine
		err := json.Unmarshal(lineScanner.Bytes(), &output)
		switch {
		case err == nil && output.CustomID == requestKey:
			return &output, nil
		case err == nil:
			hasOtherOutput = true
		case len(firstStrayLine) == 0:
			firstStrayLine = bytes.Clone(lineScanner.Bytes()[:min(len(lineScanner.Bytes()), maxErrorMessageChars)])
		}
	}
	if text := toOneLine(firstStrayLine); text != "" && !hasOtherOutput && lineScanner.Err() == nil {
		return nil, missingReplyError{text}
	}
	return nil, lineScanner.Err()
}

// completion returns the completion in the line, or the reason why it has none.
func (b *batchOutputLine) completion(x *exchange) ([]byte, error) {
	switch {
	case b.Response != nil && b.Response.StatusCode < http.StatusBadRequest && len(b.Response.Body) > 0:
		var compact bytes.Buffer // the event reader reads line by line
		if err := json.Compact(&compact, b.Response.Body); err != nil {
			return nil, x.classifyError(err)
		}
		return compact.Bytes(), nil
	case b.Response != nil:
		x.serverError = parseServerError(b.Response.Body)
		x.serverError.status = b.Response.StatusCode
		return nil, &Error{Code: turn.CodeLLMError, Message: x.classifyError(nil).Message}
	case b.Error != nil:
		return nil, &Error{Code: turn.CodeLLMError,
			Message: x.redact(fmt.Sprintf("the batch has no answer: %s: %s", b.Error.Code, b.Error.Message))}
	}
	return nil, &Error{Code: turn.CodeLLMError, Message: "the batch's answer is empty"}
}

// batchError classifies an error of sending or reading a batch.
func (x *exchange) batchError(ctx context.Context, err error) *Error {
	x.serverError = readServerError(err, x.response)
	return x.classifyAndRecord(ctx, err)
}

// replayBatchCompletion reads Request.BatchCompletion as if the server sent it now.
func (x *exchange) replayBatchCompletion() (*chunkStream, error) {
	baseURL, err := url.Parse(cmp.Or(x.client.config.BaseURL, openAIBaseURL))
	if err != nil {
		return nil, err
	}
	x.response = &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Request: &http.Request{URL: baseURL},
		Body:    io.NopCloser(bytes.NewReader(x.request.BatchCompletion)),
	}
	return x.readFirstChunk(x.response)
}
