package desk

import (
	"context"
	"sync"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/store/chain"
)

// cachedIdea is an Idea that was read for a page.
type cachedIdea struct {
	Link           chain.Link
	Idea           jsonval.Object
	States         jsonval.Object // by token
	InstanceTokens []string       // in their order

	loadAuthors       func(context.Context) (*chain.AuthorFinder, error)
	loadPlan          func(context.Context) (*client.DrawablePlan, error)
	loadInstanceFacts func(context.Context) (*processInstanceFacts, error)
	sizeBytes         int

	mu                     sync.Mutex // for changes
	changesSinceIdeaNumber int        // the Idea of the last comparison; changesLanguage is the language of its texts
	lastChanges            *client.Diff
	changesLanguage        shown.Language
}

// changesSince compares the Idea with another one, unless the last comparison was the same.
func (i *cachedIdea) changesSince(ctx context.Context, sinceIdeaNumber int,
	compare func(context.Context) (*client.Diff, error)) (*client.Diff, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.lastChanges != nil && i.changesSinceIdeaNumber == sinceIdeaNumber &&
		i.changesLanguage == client.LanguageOf(ctx) {
		return i.lastChanges, nil
	}
	d, err := compare(ctx)
	if err != nil {
		return nil, err
	}
	d.Patch = nil // no page shows it
	i.changesSinceIdeaNumber, i.lastChanges, i.changesLanguage = sinceIdeaNumber, d, client.LanguageOf(ctx)
	return d, nil
}

// The bounds of the cache of Ideas that pages showed last. An Idea never changes, and one of ten thousand instances is
// large.
const (
	maxCachedIdeas    = 16
	maxIdeaCacheBytes = 96 << 20 // bytes; an Idea counts twice its JSON, for the changes in it
)

// loadIdea returns an Idea of a process; 0 is the latest. The result is shared: do not change it.
func (d *Desk) loadIdea(ctx context.Context, processID string, ideaNumber int) (*cachedIdea, error) {
	c := d.Client.Chain(processID)
	link, err := c.Link(ctx, ideaNumber)
	if err != nil {
		return nil, err
	}
	key := processID + "\n" + link.Digest
	i, isCached := d.ideaCache.Get(key)
	if isCached {
		return i, nil
	}
	i = &cachedIdea{Link: link}
	if i.Idea, err = c.Load(ctx, link.IdeaNumber); err != nil {
		return nil, err
	}
	i.States = client.InstanceStatesOf(i.Idea)
	i.InstanceTokens = ideafiles.SortedInstanceTokens(i.States)
	i.sizeBytes = 2 * jsonval.SizeUpToLimit(i.Idea, maxIdeaCacheBytes) // twice, for the changes in it
	i.loadAuthors = memoize(func(ctx context.Context) (*chain.AuthorFinder,
		error) {
		return c.Authors(ctx, link.IdeaNumber)
	})
	i.loadPlan = memoize(c.PlanWithStatus)
	i.loadInstanceFacts = memoize(func(context.Context) (*processInstanceFacts,
		error) {
		return d.readInstanceFacts(i.Idea), nil
	})
	if i.sizeBytes <= maxIdeaCacheBytes/2 {
		d.ideaCache.Put(key, i)
	}
	return i, nil
}

// memoize caches the first result; it does not keep an error.
func memoize[T any](find func(context.Context) (*T, error)) func(context.Context) (*T, error) {
	var mu sync.Mutex
	var cached *T
	return func(ctx context.Context) (*T, error) {
		mu.Lock()
		defer mu.Unlock()
		if cached != nil {
			return cached, nil
		}
		v, err := find(ctx)
		if err == nil {
			cached = v
		}
		return v, err
	}
}
