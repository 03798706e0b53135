package chain

import (
	"context"
	"errors"
	"slices"
	"strings"

	"processidea/model/jsonval"
	"processidea/store/blobs"
	"processidea/store/texts"
)

// InInstance lists where the Ideas of a process hold a text: within one instance, or in what belongs to no single
// instance.
type InInstance struct {
	// Instance is the instance that the text belongs to; empty if it belongs to no single instance.
	Instance string   `json:"instance,omitempty"`
	Parts    []string `json:"parts"`
	// First and Last are the numbers of the first and the last Idea that has the text; 0 if none has it.
	First int `json:"first,omitempty"`
	Last  int `json:"last,omitempty"`
}

// Findings are what Find found in one chain.
type Findings struct {
	Found []InInstance
	// Unread are the Ideas that could not be read.
	Unread []int
}

// Find looks for a text, ignoring case, in everything that the Ideas of a process hold, including keys, numbers and
// large values. It keeps one Idea and one value in memory at a time. A forgotten chain holds nothing.
func (s *Store) Find(ctx context.Context, process string, needle texts.Needle) (found *Findings, err error) {
	defer wrapError(&err, "look through the Ideas of %s", process)
	ctx = blobs.ForProcess(ctx, process)
	numbers, _, err := s.ideaNumbers(ctx, process)
	f := finder{Store: s, process: process, needle: needle, notHolding: map[string]bool{}}
	for _, at := range numbers {
		if err != nil {
			break
		}
		err = f.searchIdea(ctx, at)
		switch {
		case errors.Is(err, blobs.ErrForgotten):
			err = nil
		case isBroken(err):
			f.Unread, err = append(f.Unread, at), nil
		}
	}
	slices.SortFunc(f.Found, func(a, b InInstance) int { return strings.Compare(a.Instance, b.Instance) })
	return &f.Findings, err
}

// finder looks through one chain.
type finder struct {
	*Store
	Findings
	process    string
	needle     texts.Needle
	lastRead   *state
	notHolding map[string]bool // digests of large values without the text
}

func (f *finder) searchIdea(ctx context.Context, at int) error {
	m, err := f.manifest(ctx, f.process, at)
	if err != nil {
		return err
	}
	var d draft
	d, f.lastRead, err = f.draft(ctx, m, f.lastRead)
	if err != nil {
		return err
	}
	return d.eachText(f.walk(ctx, func(place texts.Place) { f.add(at, place) }))
}

// walk reports every place that holds the text.
func (f *finder) walk(ctx context.Context, found func(texts.Place)) texts.Walk {
	look := func(place texts.Place, text string) {
		if f.needle.IsIn(text) {
			found(place)
		}
	}
	load := func(h jsonval.BlobHandle) (any, error) { return f.loadMatching(ctx, h) }
	return texts.Walk{Load: load, OnText: look, OnNumber: look}
}

// loadMatching loads a large value. It returns nil for one that is known not to hold the text, instead of reading it
// again.
func (f *finder) loadMatching(ctx context.Context, h jsonval.BlobHandle) (any, error) {
	if f.notHolding[h.Digest] {
		return nil, nil
	}
	v, err := f.readPart(ctx, h.Digest)
	if err != nil {
		return nil, err
	}
	holds := false
	err = f.walk(ctx, func(texts.Place) { holds = true }).Each(v, texts.Place{})
	f.notHolding[h.Digest] = err == nil && !holds
	return v, err
}

func (f *finder) add(at int, place texts.Place) {
	n := slices.IndexFunc(f.Found, func(i InInstance) bool { return i.Instance == place.Instance })
	if n < 0 {
		n = len(f.Found)
		f.Found = append(f.Found, InInstance{Instance: place.Instance, First: at})
	}
	found := &f.Found[n]
	if found.Last = at; !slices.Contains(found.Parts, place.Part) {
		found.Parts = append(found.Parts, place.Part)
	}
}
