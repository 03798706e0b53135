package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"processidea/internal/safego"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/tools/memory"
)

// openAIBaseURL is the default address. It is always set, because the openai library would use an empty OPENAI_BASE_URL
// as an address.
const openAIBaseURL = "https://api.openai.com/v1/"

// exchange is one Request in progress. It takes several HTTP requests if the server refuses a requestFormat.
type exchange struct {
	client        *Client
	api           openai.Client
	request       Request
	params        openai.ChatCompletionNewParams
	format        requestFormat
	headerOptions []option.RequestOption
	onLine        func() // called for every line that the server sends

	startedAt   time.Time      // when the latest HTTP request was sent; zero: none yet
	response    *http.Response // the latest response
	serverError *serverError   // the server's error for the latest HTTP request; nil: none
}

func (c *Client) newExchange(r Request) *exchange {
	x := &exchange{client: c, request: r, onLine: func() {}}
	x.api = openai.NewClient(append(c.clientOptions(), option.WithMiddleware(x.recordResponse))...)
	for name, value := range r.ExtraHeaders {
		x.headerOptions = append(x.headerOptions, option.WithHeader(name, value))
	}
	x.params = openai.ChatCompletionNewParams{
		Model:         cmp.Or(r.Settings.Model, c.config.Model, DefaultModel),
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if r.Settings.Temperature != nil {
		x.params.Temperature = param.NewOpt(*r.Settings.Temperature)
	}
	if r.Settings.MaxTokens > 0 {
		x.params.MaxCompletionTokens = param.NewOpt(int64(r.Settings.MaxTokens))
	}
	return x
}

// clientOptions returns the options of every HTTP request. Retries are left to the caller: the library's own would hide
// failures, and repeat a stream.
func (c *Client) clientOptions() []option.RequestOption {
	options := []option.RequestOption{
		option.WithHTTPClient(sharedHTTPClient), option.WithMaxRetries(0),
		option.WithBaseURL(cmp.Or(c.config.BaseURL, openAIBaseURL)),
	}
	if c.config.APIKey == "" {
		return append(options, option.WithHeaderDel("Authorization"))
	}
	return append(options, option.WithAPIKey(c.config.APIKey))
}

// maxNonStreamBytes bounds an answer that is no stream. The largest is the file of a batch, which holds one reply.
const maxNonStreamBytes = 2 * maxReplyBytes

// recordResponse keeps the response, because the library loses its status if an error's body is not in OpenAI's form.
func (x *exchange) recordResponse(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	response, err := x.sendBeforeDeadline(r, next)
	isStreamed := isStreamRequest(r)
	if x.response = response; response != nil {
		model := x.params.Model
		if isStreamed && response.StatusCode == http.StatusOK {
			model = "" // the answer may still say that the model is unavailable
		}
		x.client.circuitBreaker.recordAnswer(model, response.StatusCode)
	}
	if err != nil || isStreamed {
		return response, err
	}
	if isHTML(response) && response.StatusCode < http.StatusBadRequest { // a web page, and no answer of an API
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBodyBytes))
		_ = response.Body.Close()
		return response, missingReplyError{toOneLine(text)}
	}
	memory.LimitBody(response, maxNonStreamBytes, nil)
	return response, nil
}

// isStreamRequest reports whether the answer to a request is read event by event.
func isStreamRequest(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/chat/completions") }

func isHTML(r *http.Response) bool {
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return mediaType == "text/html"
}

// sendBeforeDeadline gives up shortly before the Request's own timeout if the server has sent nothing at all, not even
// a status. The server then counts as unavailable, and there must be time left to report that.
func (x *exchange) sendBeforeDeadline(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	x.startedAt = time.Now()
	deadline, hasDeadline := r.Context().Deadline()
	if !hasDeadline {
		return next(r)
	}
	remaining := time.Until(deadline)
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := safego.AfterFunc(remaining-min(remaining/10, reportTimeReserve), "llm.noResponse",
		func() { cancel(errNoResponse) })
	response, err := next(r.WithContext(ctx))
	if timer.Stop() {
		return response, err
	}
	if err == nil {
		_ = response.Body.Close()
	}
	return nil, fmt.Errorf("%w for %s", errNoResponse, time.Since(x.startedAt).Round(time.Second/10))
}

// reportTimeReserve is the part of a Request's time that is reserved for reporting an unavailable server.
const reportTimeReserve = 2 * time.Second

// errNoResponse means that a server sent nothing in answer to a request, or did not even receive it.
var errNoResponse = errors.New("it has sent nothing")

// missingReplyError means that a server accepted a request and sent no event: either nothing, or a text in place of a
// stream, such as the page of a proxy.
type missingReplyError struct{ text string }

func (e missingReplyError) Error() string {
	if e.text == "" {
		return "LLM returned an empty response"
	}
	return "a text came in place of a reply: " + e.text
}

// toOneLine returns a text that a server sent in place of a reply, in one line. It is shortened further after the key
// is removed.
func toOneLine(text []byte) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "\uFFFD")), " ")
	return jsonval.Clip(line, 8*maxErrorMessageChars)
}

// redactedExcerpt returns the beginning of such a text, without the key.
func (x *exchange) redactedExcerpt(text string) string {
	return jsonval.Clip(x.redact(text), maxExcerptChars)
}

const maxExcerptChars = 500

// openStream sends the request, in the best format that the server accepts, and waits for the first chunk.
func (x *exchange) openStream(ctx context.Context) (*chunkStream, error) {
	if len(x.request.BatchCompletion) > 0 {
		s, err := x.replayBatchCompletion()
		x.serverError = readServerError(err, nil)
		return s, err
	}
	for {
		x.response, x.serverError, x.startedAt = nil, nil, time.Time{}
		if heldErr := x.client.circuitBreaker.admit(x.params.Model, time.Now(), x.request.GiveUpAt); heldErr != nil {
			return nil, heldErr
		}
		if err := x.client.limiter.wait(ctx, x.request.RateLimitKey, x.params.Model,
			x.estimatePromptTokens()); err != nil {
			return nil, err
		}
		body, err := x.encodeBody(true)
		if err != nil {
			return nil, err
		}
		s, err := x.sendHTTPRequest(ctx, body)
		if err == nil {
			return s, nil
		}
		x.serverError = readServerError(err, x.response)
		x.pauseModel()
		if !x.downgradeFormat() {
			return nil, err
		}
	}
}

// openStreamWithTimeout opens a stream, and gives up if the LLM is silent for as long as the Request allows.
func (x *exchange) openStreamWithTimeout(ctx context.Context, cancel context.CancelCauseFunc) (*chunkStream, error) {
	timeout := x.request.FirstByteTimeout
	if timeout <= 0 {
		return x.openStream(ctx)
	}
	timer := safego.AfterFunc(timeout, "llm.firstByte", func() { cancel(errNoFirstByte) })
	stream, err := x.openStream(ctx)
	if timer.Stop() {
		return stream, err
	}
	if err == nil {
		_ = stream.Close()
	}
	x.serverError = nil // an earlier error of the server is not the cause
	return nil, fmt.Errorf("%w for %s", errNoFirstByte, timeout)
}

// errNoFirstByte means that an LLM was silent for Request.FirstByteTimeout; the caller then asks another LLM.
var errNoFirstByte = errors.New("the LLM said nothing")

// sendHTTPRequest makes one HTTP request.
func (x *exchange) sendHTTPRequest(ctx context.Context, body []byte) (*chunkStream, error) {
	var response *http.Response
	options := append(x.headerOptions[:len(x.headerOptions):len(x.headerOptions)],
		option.WithRequestBody("application/json", body))
	if err := x.api.Post(ctx, "chat/completions", nil, &response, options...); err != nil {
		return nil, err
	}
	return x.readFirstChunk(response)
}

// readFirstChunk reads a response up to its first chunk.
func (x *exchange) readFirstChunk(response *http.Response) (*chunkStream, error) {
	s := &chunkStream{eventReader: newEventReader(response, x.onLine)}
	if s.Next() {
		return s, nil
	}
	_ = s.Close()
	return nil, s.noReplyError()
}

// pauseModel holds back the worker's other Requests to the same model if the server asks for a pause.
func (x *exchange) pauseModel() {
	if x.serverError == nil || !x.serverError.isTransient() {
		return
	}
	// The circuit handles unavailable servers.
	if x.serverError.status == http.StatusTooManyRequests || x.serverError.isThrottled {
		x.client.limiter.pauseModel(x.params.Model, x.retryAfter(), x.redact(x.serverError.text()))
	}
}

// bytesPerToken estimates tokens that the server has not counted yet.
const bytesPerToken = 4

// estimatePromptTokens estimates the tokens of the prompt.
func (x *exchange) estimatePromptTokens() int {
	n := len(jsonval.Encode(x.request.ResponseFormat.Schema))
	for _, m := range x.request.Messages {
		n += len(m.Content)
	}
	return n / bytesPerToken
}

// chargeExtraTokens charges the rate limiter for what the Request used beyond the estimate. It uses the server's count,
// or else the length of the reply in bytes.
func (x *exchange) chargeExtraTokens(u turn.TokenUsage, replyByteCount int) {
	if u == (turn.TokenUsage{}) {
		u.CompletionTokens = replyByteCount / bytesPerToken
	} else {
		u.PromptTokens -= x.estimatePromptTokens()
	}
	x.client.limiter.chargeExtraTokens(u.PromptTokens + u.CompletionTokens)
}

// setModelAndServer adds the known facts about the server to a Reply.
func (x *exchange) setModelAndServer(r *Reply) *Reply {
	r.RequestedModel, r.OmittedFeatures = x.params.Model, x.format.String()
	if a := x.response; a != nil && a.Request != nil {
		r.ServerHost = a.Request.URL.Host
	}
	return r
}
