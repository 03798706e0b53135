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

// maxCachedWords bounds how many processes' words are cached.
const maxCachedWords = 256

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

// Words returns the names that the process's Idea gives to things. If the Idea cannot be read, only technical names are
// left; nothing fails for want of words.
func (p *Process) Words(ctx context.Context) *shown.Words {
	last, err := p.Chain().Length(ctx)
	if err != nil {
		return shown.WordsOf(nil)
	}
	key := fmt.Sprintf("%s\n%d", p.id, last)
	if known, ok := p.client.words.Get(key); ok {
		return known
	}
	var source jsonval.Object
	if last > 0 {
		source, err = p.Chain().chains.Load(ctx, p.id, last)
	} else {
		source, err = p.startedFrom(ctx)
	}
	if err != nil || source == nil {
		return shown.WordsOf(nil)
	}
	idea, problems := ideafile.ReadIdeaWithCheckedTools(source)
	if len(problems.Errors()) > 0 && idea == nil {
		return shown.WordsOf(nil)
	}
	words := shown.WordsOf(idea)
	p.client.words.Add(key, words)
	return words
}

// startedFrom reads the Idea that the process was started from out of its first event. The store has no Idea before the
// first one is sealed, and a Call may wait for a person before that.
func (p *Process) startedFrom(ctx context.Context) (jsonval.Object, error) {
	ctx = blobs.ForProcess(ctx, p.id)
	events := p.client.temporal.GetWorkflowHistory(ctx, p.id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := events.Next()
	if err != nil {
		return nil, err
	}
	var start protocol.ProcessStart
	input := first.GetWorkflowExecutionStartedEventAttributes().GetInput()
	if err := connect.DataConverter(p.client.archive.values.Keys()).FromPayloads(input, &start); err != nil {
		return nil, err
	}
	whole, err := p.client.archive.values.Restore(ctx, start.Idea)
	return jsonval.AsObject(whole), err
}

// inWords describes a Call in the words of the business. It loads large values of the Call and its case from the store.
func (a *Archive) inWords(ctx context.Context, w *shown.Words, tool string, params jsonval.Object, token string,
	about shown.Case) (shown.Call, error) {
	whole, err := a.values.Restore(ctx, jsonval.Object{"params": params, "state": about.State, "input": about.Input})
	if err != nil {
		return shown.Call{}, err
	}
	read := jsonval.AsObject(whole)
	return w.Call(tool, jsonval.AsObject(read["params"]), token,
		shown.Case{Input: read["input"], State: read["state"]}, LanguageOf(ctx)), nil
}

// addWords describes waiting Calls in the words of the business, and adds why the LLM planned them.
func (p *Process) addWords(ctx context.Context, list []Approval) {
	words, reasons := map[string]*shown.Words{}, map[string]map[string]string{}
	for n := range list {
		a := &list[n]
		if words[a.Process] == nil {
			process := p.client.Process(a.Process)
			words[a.Process], reasons[a.Process] = process.Words(ctx), process.reasons(ctx)
		}
		a.Call = words[a.Process].Call(a.Tool, a.Params, a.Instance, shown.Case{Input: a.Input, State: a.State},
			LanguageOf(ctx))
		if key, isID := ideafile.ParseCallKey(a.CallID); isID {
			a.Reasoning = reasons[a.Process][key.ID("")]
		}
	}
}

// addSentences describes waiting Plans in the words of the business.
func (p *Process) addSentences(ctx context.Context, plans []PendingPlan) {
	for n := range plans {
		words := p.client.Process(plans[n].Process).Words(ctx)
		plans[n].Sentence = plans[n].SentenceIn(words, LanguageOf(ctx))
	}
}

// reasons returns the LLM's reasons for the Calls of its latest Plan, by the Call's id without the instance.
func (p *Process) reasons(ctx context.Context) map[string]string {
	var now protocol.PlanProgress
	if err := p.client.query(ctx, p.id, protocol.QueryPlan, &now); err != nil {
		return nil
	}
	found := map[string]string{}
	for _, c := range now.Calls {
		if reason := jsonval.AsText(c.Written.RawObject()["_reasoningForCall"]); reason != "" {
			found[c.CallID] = reason
		}
	}
	return found
}
