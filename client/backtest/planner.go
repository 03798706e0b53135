package backtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/internal/rehearsal"
	"processidea/learn/backtest"
	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/prompt"
	"processidea/model/turn"
	"processidea/store/blobs"
)

// llmPlanner is an LLM, or recorded replies in its place, that answers the Requests of the new Idea.
type llmPlanner struct {
	ctx    context.Context
	client *llm.Client
	store  *blobs.Store
	// isScripted: the replies are recorded, and each answers the Request with its number.
	isScripted bool
}

// choosePlanner chooses who answers Requests; stop releases what was started for it.
func choosePlanner(ctx context.Context, d *ideafiles.Definition, o Options,
	store *blobs.Store) (p backtest.Planner, planSource string, stop func(), err error) {
	switch {
	case o.LLM != nil:
		return &llmPlanner{ctx: ctx, client: o.LLM, store: store}, PlanSourceLLM, func() {}, nil
	case d.RepliesText == "":
		return nil, PlanSourceRecorded, func() {}, nil
	}
	replies, err := rehearsal.Parse([]byte(d.RepliesText))
	if err != nil {
		return nil, "", nil, err
	}
	for n := range replies {
		replies[n].TTFT, replies[n].TPS = 0, 0 // nobody watches, so no delay is needed
	}
	server, err := rehearsal.Start(replies, rehearsal.WithoutRequestLog())
	if err != nil {
		return nil, "", nil, err
	}
	llmClient, err := llm.New(llm.Config{BaseURL: server.URL(), Model: "rehearsal"})
	if err != nil {
		server.Close()
		return nil, "", nil, err
	}
	return &llmPlanner{ctx: ctx, client: llmClient, store: store, isScripted: true}, PlanSourceReplies, server.Close,
		nil
}

const (
	maxRequestAttempts = 3               // of one Request
	firstRetryDelay    = 2 * time.Second // before the second attempt, if the server names no time
)

// Reply asks for the solution of one Request.
func (a *llmPlanner) Reply(idea *ideafile.Idea, bindings map[string]ideafile.ToolBinding,
	request *turn.RequestInput) (backtest.Reply, error) {
	var reply backtest.Reply
	llmRequest := llm.Request{
		Messages: prompt.Render(idea, bindings, request,
			func(h jsonval.BlobHandle) []byte { return a.store.GetOrNil(a.ctx, h) }),
		ResponseFormat: prompt.ResponseFormatFor(idea, bindings, request),
		RateLimitKey:   fmt.Sprintf("%s/%d", request.ProcessID, request.RequestNumber),
		OnCall: func(_ int, raw json.RawMessage) {
			v, err := jsonval.Decode(raw)
			if err != nil {
				v = string(raw) // a broken Call is refused later, as it is
			}
			reply.Calls = append(reply.Calls, v)
		},
	}
	if a.isScripted {
		llmRequest.ExtraHeaders = map[string]string{rehearsal.TurnNumberHeader: strconv.Itoa(request.TurnNumber)}
	} else if len(idea.Config.LLMs) > 0 {
		llmRequest.Settings = idea.Config.LLMs[0]
	}
	answer, err := a.streamWithRetries(llmRequest)
	if err != nil {
		return reply, err
	}
	if answer.IncompleteFault != nil {
		return backtest.Reply{}, fmt.Errorf("%w: the reply is incomplete: %s", backtest.ErrNoReply,
			answer.IncompleteFault.Message)
	}
	if len(answer.Output) > 0 {
		reply.Output, err = jsonval.Decode(answer.Output)
	}
	return reply, err
}

// streamWithRetries repeats the request until there is an answer, for at most maxRequestAttempts.
func (a *llmPlanner) streamWithRetries(llmRequest llm.Request) (*llm.Reply, error) {
	delay := firstRetryDelay
	for attempt := 1; ; attempt++ {
		answer, err := a.client.Stream(a.ctx, llmRequest)
		var failure *llm.Error
		switch {
		case err == nil:
			return answer, nil
		case a.isScripted:
			return nil, fmt.Errorf("%w: no recorded reply matches it", backtest.ErrNoReply)
		case !errors.As(err, &failure) || !failure.IsRetryable || attempt == maxRequestAttempts || a.ctx.Err() != nil:
			return nil, err
		}
		if failure.RetryAfter > 0 {
			delay = failure.RetryAfter
		}
		client.Sleep(a.ctx, delay)
		delay *= 2
	}
}
