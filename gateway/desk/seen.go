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

// seenIdea is an Idea that was read for a page.
type seenIdea struct {
	Link   chain.Link
	Idea   jsonval.Object
	States jsonval.Object // by token
	Tokens []string       // in their order

	authors func(context.Context) (*chain.Authors, error)
	plan    func(context.Context) (*client.PlanDrawing, error)
	size    int

	mu      sync.Mutex // for changes
	since   int        // the Idea of the last comparison; told is the language of its texts
	changes *client.Diff
	told    shown.Language
}

// changesSince compares the Idea with another one, unless the last comparison was the same.
func (i *seenIdea) changesSince(ctx context.Context, since int,
	compare func(context.Context) (*client.Diff, error)) (*client.Diff, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.changes != nil && i.since == since && i.told == client.LanguageOf(ctx) {
		return i.changes, nil
	}
	d, err := compare(ctx)
	if err != nil {
		return nil, err
	}
	d.Patch = nil // no page shows it
	i.since, i.changes, i.told = since, d, client.LanguageOf(ctx)
	return d, nil
}

// The bounds of the cache of Ideas that pages showed last. An Idea never changes, and one of ten thousand instances is
// large.
const (
	maxSeenPages = 16
	maxSeenBytes = 96 << 20 // bytes; an Idea counts twice its JSON, for the changes in it
)

// idea returns an Idea of a process; 0 is the latest. The result is shared: do not change it.
func (d *Desk) idea(ctx context.Context, process string, at int) (*seenIdea, error) {
	c := d.Client.Chain(process)
	link, err := c.Link(ctx, at)
	if err != nil {
		return nil, err
	}
	key := process + "\n" + link.Digest
	i, known := d.seen.Get(key)
	if known {
		return i, nil
	}
	i = &seenIdea{Link: link}
	if i.Idea, err = c.Load(ctx, link.At); err != nil {
		return nil, err
	}
	i.States = client.StatesOf(i.Idea)
	i.Tokens = ideafiles.SortedTokens(i.States)
	i.size = 2 * jsonval.SizeUpToLimit(i.Idea, maxSeenBytes) // twice, for the changes in it
	i.authors = cacheFirst(func(ctx context.Context) (*chain.Authors, error) { return c.Authors(ctx, link.At) })
	i.plan = cacheFirst(c.PlanWithStatus)
	if i.size <= maxSeenBytes/2 {
		d.seen.Keep(key, i)
	}
	return i, nil
}

// cacheFirst caches the first result; it does not keep an error.
func cacheFirst[T any](find func(context.Context) (*T, error)) func(context.Context) (*T, error) {
	var mu sync.Mutex
	var found *T
	return func(ctx context.Context) (*T, error) {
		mu.Lock()
		defer mu.Unlock()
		if found != nil {
			return found, nil
		}
		v, err := find(ctx)
		if err == nil {
			found = v
		}
		return v, err
	}
}
