package client

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"

	"processidea/connect"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/blobs"
)

// maxCachedPresenters bounds how many processes' words are cached.
const maxCachedPresenters = 256

type languageKey struct{}

// WithLanguage sets the language in which waiting Calls are described; the default is English.
func WithLanguage(ctx context.Context, l shown.Language) context.Context {
	return context.WithValue(ctx, languageKey{}, l)
}

// LanguageOf returns the language of a context.
func LanguageOf(ctx context.Context) shown.Language {
	if l, isSet := ctx.Value(languageKey{}).(shown.Language); isSet {
		return l
	}
	return shown.English
}

// Presenter returns the names that the process's Idea gives to things. If the Idea cannot be read, only technical names
// are left; nothing fails for want of words.
func (p *Process) Presenter(ctx context.Context) *shown.Presenter {
	lastIdeaNumber, err := p.Chain().Length(ctx)
	if err != nil {
		return shown.NewPresenter(nil)
	}
	key := fmt.Sprintf("%s\n%d", p.id, lastIdeaNumber)
	if cached, ok := p.client.presenterCache.Get(key); ok {
		return cached
	}
	var ideaSource jsonval.Object
	if lastIdeaNumber > 0 {
		ideaSource, err = p.Chain().chainStore.Load(ctx, p.id, lastIdeaNumber)
	} else {
		ideaSource, err = p.initialIdea(ctx)
	}
	if err != nil || ideaSource == nil {
		return shown.NewPresenter(nil)
	}
	idea, problems := ideafile.ReadIdeaWithoutCheckingTools(ideaSource)
	if len(problems.Errors()) > 0 && idea == nil {
		return shown.NewPresenter(nil)
	}
	presenter := shown.NewPresenter(idea)
	p.client.presenterCache.Add(key, presenter)
	return presenter
}

// initialIdea reads the Idea that the process was started from out of its first event. The store has no Idea before the
// first one is sealed, and a Call may wait for a person before that.
func (p *Process) initialIdea(ctx context.Context) (jsonval.Object, error) {
	ctx = blobs.WithProcess(ctx, p.id)
	events := p.client.temporal.GetWorkflowHistory(ctx, p.id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	firstEvent, err := events.Next()
	if err != nil {
		return nil, err
	}
	var start protocol.ProcessStart
	input := firstEvent.GetWorkflowExecutionStartedEventAttributes().GetInput()
	if err := connect.DataConverter(p.client.archive.blobStore.Keys()).FromPayloads(input, &start); err != nil {
		return nil, err
	}
	restored, err := p.client.archive.blobStore.Restore(ctx, start.Idea)
	return jsonval.AsObject(restored), err
}

// describeCall describes a Call in the words of the business. It loads large values of the Call and its case from the
// store.
func (a *Archive) describeCall(ctx context.Context, presenter *shown.Presenter, toolName string, params jsonval.Object,
	instanceToken string, values shown.InstanceValues) (shown.Call, error) {
	restored, err := a.blobStore.Restore(ctx, jsonval.Object{"params": params, "state": values.State,
		"input": values.Input})
	if err != nil {
		return shown.Call{}, err
	}
	fields := jsonval.AsObject(restored)
	return presenter.Call(toolName, jsonval.AsObject(fields["params"]), instanceToken,
		shown.InstanceValues{Input: fields["input"], State: fields["state"]}, LanguageOf(ctx)), nil
}

// addDescriptions describes waiting Calls in the words of the business, and adds why the LLM planned them.
func (p *Process) addDescriptions(ctx context.Context, list []Approval) {
	presenterByProcess, reasoningByProcess := map[string]*shown.Presenter{}, map[string]map[string]string{}
	for n := range list {
		a := &list[n]
		if presenterByProcess[a.Process] == nil {
			process := p.client.Process(a.Process)
			presenterByProcess[a.Process], reasoningByProcess[a.Process] = process.Presenter(ctx),
				process.reasoningByCallID(ctx)
		}
		a.Call = presenterByProcess[a.Process].Call(a.Tool, a.Params, a.Instance,
			shown.InstanceValues{Input: a.Input, State: a.State}, LanguageOf(ctx))
		if key, isID := ideafile.ParseCallKey(a.CallID); isID {
			a.Reasoning = reasoningByProcess[a.Process][key.ID("")]
		}
	}
}

// addPlanSentences describes waiting Plans in the words of the business.
func (p *Process) addPlanSentences(ctx context.Context, plans []PendingPlan) {
	for n := range plans {
		presenter := p.client.Process(plans[n].Process).Presenter(ctx)
		plans[n].Sentence = plans[n].SentenceIn(presenter, LanguageOf(ctx))
	}
}

// reasoningByCallID returns the LLM's reasons for the Calls of its latest Plan, by the Call's id without the instance.
func (p *Process) reasoningByCallID(ctx context.Context) map[string]string {
	var progress protocol.PlanProgress
	if err := p.client.query(ctx, p.id, protocol.QueryPlanProgress, &progress); err != nil {
		return nil
	}
	reasoningByCallID := map[string]string{}
	for _, c := range progress.Calls {
		if reason := jsonval.AsText(c.WrittenCall.RawObject()["_reasoningForCall"]); reason != "" {
			reasoningByCallID[c.CallID] = reason
		}
	}
	return reasoningByCallID
}
