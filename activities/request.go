package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/prompt"
	"processidea/model/turn"
	"processidea/protocol"
)

// Request makes one Request: it streams the LLM's solution and hands each Call to its instance at the byte that closes
// it. An error means that nothing was heard and it may be tried again; once something was, what became of it is the
// result, good or bad.
func (a *Activities) Request(ctx context.Context, setup protocol.RequestSetup, brief *turn.RequestInput, states protocol.RequestStates) (*turn.Reply, error) {
	defer heartbeat(ctx)()
	if err := a.recall(ctx, setup, brief, states); err != nil {
		return nil, err
	}
	return a.inTurn(ctx, brief, func(seen *RequestSeen) (*turn.Reply, error) { return a.request(ctx, setup, brief, seen) })
}

func (a *Activities) request(ctx context.Context, setup protocol.RequestSetup, brief *turn.RequestInput, seen *RequestSeen) (*turn.Reply, error) {
	r, stop, err := a.newRequest(ctx, setup, brief)
	if err != nil {
		return nil, err
	}
	defer stop()
	listening, hangUp := context.WithCancelCause(ctx)
	defer hangUp(nil)
	r.silence = newSilence(a.maxSilence, func() { hangUp(errSilent) })
	defer r.silence.end()
	r.chat.alive = r.silence.beat
	defer func() { seen.note(r) }()
	stream, err := r.chat.open(listening)
	if err != nil {
		return nil, r.chat.refusal(err)
	}
	defer func() { _ = stream.Close() }()
	if less := r.chat.way.String(); less != "" {
		activity.GetLogger(ctx).Info("the LLM's server takes less than it was asked", "server", less)
	}
	seen.FirstByte = time.Now()
	r.listen(stream)
	if err := r.handout.finish(); err != nil {
		// An error would have Temporal ask again, and some Calls have arrived: the process closes the Request instead.
		r.reply.Complete, r.reply.Fault = false, &diag.Fault{Code: turn.CodeTruncated, Message: "calls could not be handed on: " + clip(err.Error())}
	}
	return &r.reply, nil
}

// request is one Request under way.
type request struct {
	a       *Activities
	ctx     context.Context
	idea    *ideafile.Idea
	brief   *turn.RequestInput
	palette ideafile.Palette
	chat    *chat
	handout *handout
	named   map[string]bool // instances that got a Call
	reply   turn.Reply
	refused string
	finish  string
	silence *silence
	said    strings.Builder // all the text, where somebody wants to hear it
}

func (a *Activities) newRequest(ctx context.Context, setup protocol.RequestSetup, brief *turn.RequestInput) (r *request, stop func(), err error) {
	idea, problems := ideafile.ReadIdea(setup.Idea)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, nil, final(turn.CodeInvalidIdea, errs)
	}
	r = &request{a: a, ctx: ctx, idea: idea, brief: brief, named: map[string]bool{}}
	r.reply.Attempts = int(activity.GetInfo(ctx).Attempt)
	r.palette = ideafile.Palette{Tools: idea.Tools, Bindings: setup.Bindings, Tokens: brief.Tokens()}
	if brief.OutputOnly {
		r.palette.Tokens = nil
	}
	r.handout = newHandout(ctx, a.Client, brief.Process, brief.Number)
	llm, stop := a.LLM, func() {}
	form := prompt.ComposeFor(idea, setup.Bindings, brief)
	if form.Reason != "" {
		activity.GetLogger(ctx).Info("the schema is sent without strict mode", "reason", form.Reason)
	}
	messages := prompt.Prompt(idea, setup.Bindings, brief, func(h jsonval.Handle) string { return a.Store.Preview(ctx, h) })
	if line, ok := sketch(idea, setup, brief, messages); ok {
		r.reply.Faked = true
		llm, header, stop, err := scripted(line, 1)
		if err != nil {
			return nil, nil, final(turn.CodeLLMError, err)
		}
		r.chat = llm.chat(ideafile.LLM{}, form, messages)
		r.chat.options = append(r.chat.options, header)
		return r, stop, nil
	}
	if setup.Replies == "" && !llm.Configured() {
		return nil, nil, final(turn.CodeLLMError, errors.New(
			"no LLM is configured: set OPENAI_API_KEY or OPENAI_BASE_URL where the worker runs, or start with --replies"))
	}
	if setup.Replies == "" {
		r.chat = llm.chat(idea.Config.LLM, form, messages)
		if err := a.paced(r.chat, brief.Process, brief.Number); err != nil {
			return nil, nil, final(turn.CodeLLMError, err)
		}
		return r, stop, nil
	}
	// A script's line that says "try again" is followed by the next line.
	llm, header, stop, err := scripted(setup.Replies, brief.Turn+r.reply.Attempts-1)
	if err != nil {
		return nil, nil, final(turn.CodeLLMError, err)
	}
	r.chat = llm.chat(ideafile.LLM{}, form, messages)
	r.chat.options = append(r.chat.options, header)
	return r, stop, nil
}

// listen reads the stream to its end, or to the end of the solution, and notes how it ended.
func (r *request) listen(stream *chunkStream) {
	h := newHearing(r, stream)
	s, parseErr := readSolution(h, r.onCall)
	h.hearOut()
	r.chat.settle(r.reply.Usage, h.guard.bytes)
	r.conclude(s, parseErr, h.why())
	if r.a.Heard != nil {
		r.a.Heard(r.brief.Process, r.said.String(), r.finish, r.refused)
	}
}

// onCall takes a Call that has just closed.
func (r *request) onCall(index int, raw json.RawMessage) {
	v, err := decodeCall(raw)
	if err != nil {
		r.fault(index, diag.Fault{Code: ideafile.CodeBadForm, Message: err.Error()})
		r.reply.Calls = append(r.reply.Calls, ideafile.ParseWrittenCall(string(raw)))
		return
	}
	if v, err = r.offload(v); err != nil {
		r.fault(index, diag.Fault{Code: ideafile.CodeBadForm, Message: err.Error()})
		r.reply.Calls = append(r.reply.Calls, ideafile.WrittenCall{})
		return
	}
	call := ideafile.ParseWrittenCall(v)
	r.reply.Calls = append(r.reply.Calls, call)
	if len(r.brief.Questions) > 0 {
		r.onResult(index, call)
		return
	}
	tokens, f := r.palette.Targets(call)
	if len(tokens) == 0 {
		r.fault(index, *f)
		return
	}
	// A broken Call goes to its instance too: it tells of it with the others.
	for _, t := range tokens {
		r.named[t] = true
		r.handout.give(t, func(s *protocol.CallsSignal) {
			s.Calls = append(s.Calls, protocol.SentCall{Index: index, Call: call})
		})
	}
}

func (r *request) fault(index int, f diag.Fault) {
	r.reply.CallFaults = append(r.reply.CallFaults, turn.CallFault{Index: index, Fault: f})
}

// offload puts large parameters into the store: a workflow never sees them.
func (r *request) offload(v any) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return v, nil
	}
	return r.a.Store.OffloadMembers(r.ctx, m)
}

// onResult takes the result of a latent Call that was asked for by itself, or fitted values.
func (r *request) onResult(index int, v ideafile.WrittenCall) {
	asked, output, params, f := turn.ReadAnswer(r.idea, r.brief, v)
	if f != nil {
		r.fault(index, *f)
		return
	}
	r.handout.give(asked.Token, func(s *protocol.CallsSignal) {
		s.Results = append(s.Results, protocol.SentValue{Call: asked.ID, Output: output, Params: params, Fitted: asked.ParamsError != ""})
	})
}

// conclude decides whether the solution is whole, and tells every instance that nothing more comes if it is. A closed
// root object is whole whatever the server says of it; a finish reason without one is not.
func (r *request) conclude(s *solution, parseErr, streamErr error) {
	if f := r.broken(parseErr, streamErr); f != nil {
		r.reply.Fault = f
		return
	}
	if !r.takeOutput(s.output) {
		return
	}
	r.reply.Complete = true
	if r.brief.OutputOnly {
		return
	}
	for _, t := range r.palette.Tokens {
		if !r.named[t] {
			r.reply.InstancesWithoutCalls = append(r.reply.InstancesWithoutCalls, t)
		}
		r.handout.give(t, func(s *protocol.CallsSignal) { s.Last = true })
	}
}

// broken says how a reply is not whole; nil where it is.
func (r *request) broken(parseErr, streamErr error) *diag.Fault {
	var endless errEndless
	var form errForm
	switch {
	case parseErr == nil:
		return nil
	case r.refused != "":
		return &diag.Fault{Code: turn.CodeRefusal, Message: "the LLM refused: " + r.chat.said(r.refused)}
	case r.finish == "content_filter":
		return &diag.Fault{Code: turn.CodeRefusal, Message: "a content filter ended the reply"}
	case errors.As(parseErr, &endless):
		return &diag.Fault{Code: turn.CodeEndlessReply, Message: endless.Error()}
	case errors.As(streamErr, &endless):
		return &diag.Fault{Code: turn.CodeEndlessReply, Message: endless.Error()}
	case r.finish == "length":
		return &diag.Fault{Code: turn.CodeTruncated, Message: "the reply was longer than the LLM may write"}
	case errors.As(streamErr, &form):
		return &diag.Fault{Code: turn.CodeNotJSON, Message: "the reply is no JSON object: " + form.why}
	case errors.Is(parseErr, errCut) && streamErr != nil:
		return &diag.Fault{Code: turn.CodeTruncated, Message: "the stream broke off: " + r.chat.said(streamErr.Error())}
	case errors.Is(parseErr, errCut) && r.finish == "":
		return &diag.Fault{Code: turn.CodeTruncated, Message: "the stream ended before the reply did"}
	}
	return &diag.Fault{Code: turn.CodeNotJSON, Message: "the reply is not of the form: " + clip(parseErr.Error())}
}

// takeOutput reads the output and checks it where it is whole.
func (r *request) takeOutput(raw json.RawMessage) bool {
	if len(raw) == 0 {
		return true
	}
	v, err := jsonval.Decode(raw)
	if err != nil {
		r.reply.Fault = &diag.Fault{Code: turn.CodeNotJSON, Message: "output: " + err.Error()}
		return false
	}
	r.reply.OutputFault = turn.CheckOutput(r.idea, v)
	if r.reply.Output, err = r.a.Store.Offload(r.ctx, v); err != nil {
		r.reply.Fault = &diag.Fault{Code: turn.CodeTruncated, Message: fmt.Sprintf("the output could not be stored: %s", clip(err.Error()))}
		return false
	}
	return true
}
