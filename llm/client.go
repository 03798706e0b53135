package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/prompt"
	"processidea/model/turn"
)

// Client asks one server. It is safe for concurrent use, and shared by all Requests of a worker, so that they share
// connections and rate limits.
type Client struct {
	config         Config
	limiter        *rateLimiter
	circuitBreaker *circuitBreaker
	maxSilence     time.Duration
}

// New returns a Client, or an error for an invalid configuration.
func New(c Config) (*Client, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	limiter, _ := newRateLimiter(c) // Check has returned its error
	return &Client{config: c, limiter: limiter, circuitBreaker: newCircuitBreaker(c.MaxRetryPause),
			maxSilence: maxSilence},
		nil
}

// IsConfigured reports whether there is a server to ask. A nil Client has none.
func (c *Client) IsConfigured() bool { return c != nil && c.config.IsConfigured() }

// Request is one question to the LLM.
type Request struct {
	Messages       []prompt.Message
	ResponseFormat prompt.ResponseFormat // the JSON Schema of the reply
	Settings       ideafile.LLM          // the Idea's; empty fields are the Client's, or the server's own
	// FirstByteTimeout bounds the silence before the first byte; 0: only the context does.
	FirstByteTimeout time.Duration
	// OnFirstEvent is called when the first event of the answer has arrived; nil: no call.
	OnFirstEvent func()
	// GiveUpAt is when the caller stops waiting for the Request; zero: never. A Request that an outage would hold back
	// beyond this time probes the server before.
	GiveUpAt time.Time
	// RateLimitKey identifies the Request over all its attempts. A Request that must wait too long for its rate limit
	// keeps its reservation under this key.
	RateLimitKey string
	// ExtraHeaders has additional headers; nil: none.
	ExtraHeaders map[string]string
	// BatchCompletion answers the Request in place of the server, as JSON in one line: the result of ReadBatch. Empty:
	// the server is asked.
	BatchCompletion json.RawMessage
	// KeepText makes Reply.Text hold everything that the LLM wrote.
	KeepText bool
	// OnCall is called with each Call of the solution as written, and its index from 1, at the byte that closes it.
	OnCall func(index int, raw json.RawMessage)
}

// Reply is the result of a Request.
type Reply struct {
	// IncompleteFault is why the solution is incomplete; nil: it is complete.
	IncompleteFault *diag.Fault
	Output          json.RawMessage // the solution's output as written; empty: none
	SaysFinished    bool            // nothing is left to plan, if the solution's Calls succeed
	SaysUnfinished  bool            // the solution says that more is to be planned
	Notes           string          // the LLM's notes to itself; empty: none
	Usage           turn.TokenUsage // zero if the server reports none
	FinishReason    string          // the finish reason; empty if the stream broke off
	Refusal         string          // the LLM's refusal; empty: none
	Text            string          // all of the reply, with Request.KeepText
	RequestedModel  string          // the requested model
	ServedModel     string          // the server's name of the model; empty: not given
	ServerHost      string          // host, or host:port; empty if no server answered
	FirstByteAt     time.Time       // zero if none came
	// OmittedFeatures names the parts of the request that the server did not accept; empty if it accepted all.
	OmittedFeatures string
}

// Stream sends a Request and reads the reply to its end, or to the end of the solution. The Reply is never nil: with an
// error it holds what is known of the server. The error is of type *Error and means that the LLM gave no reply.
func (c *Client) Stream(ctx context.Context, r Request) (*Reply, error) {
	streamCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silenceTimer := newIdleTimer(c.maxSilence, func() { cancel(errSilent) })
	defer silenceTimer.stop()
	x := c.newExchange(r)
	x.onLine = silenceTimer.reset
	stream, err := x.openStreamWithTimeout(streamCtx, cancel)
	if err != nil {
		return x.setModelAndServer(&Reply{}), x.classifyAndRecord(ctx, err)
	}
	if r.OnFirstEvent != nil {
		r.OnFirstEvent()
	}
	defer func() { _ = stream.Close() }()
	reader := newReplyReader(ctx, stream, silenceTimer, r.KeepText)
	reader.reply.FirstByteAt = time.Now()
	reader.onReplyBegin = func() { x.client.circuitBreaker.recordAnswer(x.params.Model, http.StatusOK) }
	parsedSolution, parseErr := readSolution(reader, r.OnCall)
	reader.keepTrailingText(parsedSolution.trailingText(&reader.pendingText))
	reader.readRemainder()
	reply := x.setModelAndServer(reader.finish())
	reply.Output, reply.Notes = parsedSolution.output, parsedSolution.notes
	if parsedSolution.isFinished != nil {
		reply.SaysFinished, reply.SaysUnfinished = *parsedSolution.isFinished, !*parsedSolution.isFinished
	}
	if len(r.BatchCompletion) == 0 {
		x.chargeExtraTokens(reply.Usage, reader.filter.byteCount)
	}
	if parseErr == nil {
		reply.IncompleteFault = cmp.Or(reader.functionCallFault(nil), reader.secondSolutionFault())
		return reply, nil
	}
	streamErr := reader.streamError()
	var inStream inStreamError
	if reader.isEmptyWithoutReason() && (streamErr == nil || errors.As(streamErr, &inStream)) {
		return reply, x.emptyOrBrokenStreamError(ctx, reader, streamErr)
	}
	reply.IncompleteFault = cmp.Or(reader.functionCallFault(parseErr), x.incompleteFault(reader, parseErr, streamErr))
	return reply, nil
}

// emptyOrBrokenStreamError returns the error of a server that accepted a Request and then sent no reply: its stream
// held an error, or just ended (nil).
func (x *exchange) emptyOrBrokenStreamError(ctx context.Context, r *replyReader, inStream error) *Error {
	if inStream == nil && hasErrorMessage(r.stream.strayLines) {
		inStream = inStreamError{string(r.stream.strayLines)}
	}
	if inStream != nil {
		x.serverError = readServerError(inStream, nil)
		return x.classifyAndRecord(ctx, inStream)
	}
	e := &Error{Code: turn.CodeLLMUnreachable, IsRetryable: x.canRetry(), Remedy: x.client.unreachableRemedy(),
		Message: fmt.Sprintf("the LLM's server at %s sent an empty answer", x.client.host())}
	if finishReason := r.reply.FinishReason; finishReason != "" && finishReason != "stop" {
		e.Message += fmt.Sprintf(" (finish_reason: %s)", jsonval.ClipForError(x.redact(finishReason)))
	}
	if r.hasThoughts || r.filter.hadThoughts {
		e.Message += ", with reasoning only"
		e.Remedy, e.IsReasoningOnly = "it writes where it may write more (config.llm.maxTokens), or reasons less", true
	}
	if text := toOneLine(r.stream.strayLines); text != "" {
		e.Message += ", with this text: " + x.redactedExcerpt(text)
	}
	return e
}

// canRetry reports whether another attempt may get another answer. The answer of a batch never changes.
func (x *exchange) canRetry() bool { return len(x.request.BatchCompletion) == 0 }

// sharedHTTPClient is shared by all Clients. Each exchange creates a client of the openai library, and each of these
// would otherwise have its own connections.
var sharedHTTPClient = &http.Client{Transport: newTransport(), CheckRedirect: refuseMethodChange}

// refuseMethodChange refuses a redirect that changes the method: net/http would turn a POST into a GET.
func refuseMethodChange(next *http.Request, via []*http.Request) error {
	switch {
	case next.Method != via[0].Method:
		return redirectError{next.URL}
	case len(via) >= 10:
		return errors.New("it redirects without end")
	}
	return nil
}

// redirectError means that a server has moved to another address, which must be configured.
type redirectError struct{ target *url.URL }

func (e redirectError) Error() string {
	redactedURL := *e.target
	redactedURL.User, redactedURL.RawQuery, redactedURL.Fragment = nil, "", ""
	return "it redirects to " + strings.TrimSuffix(strings.TrimRight(redactedURL.String(), "/"), "/chat/completions")
}

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	t.ResponseHeaderTimeout = 10 * time.Minute
	t.ReadBufferSize = 64 << 10 // a fast LLM fills the default 4 KB with twenty tokens
	return t
}
