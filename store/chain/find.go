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

// InstanceMatch lists where the Ideas of a process hold a text: within one instance, or in what belongs to no single
// instance.
type InstanceMatch struct {
	// Instance is the instance that the text belongs to; empty if it belongs to no single instance.
	Instance string   `json:"instance,omitempty"`
	Paths    []string `json:"parts"`
	// FirstIdeaNumber and Last are the numbers of the first and the last Idea that has the text; 0 if none has it.
	FirstIdeaNumber int `json:"first,omitempty"`
	LastIdeaNumber  int `json:"last,omitempty"`
}

// Findings are what Find found in one chain.
type Findings struct {
	Matches []InstanceMatch
	// UnreadableIdeaNumbers are the Ideas that could not be read.
	UnreadableIdeaNumbers []int
}

// Find looks for a text, ignoring case, in everything that the Ideas of a process hold, including keys, numbers and
// large values. It keeps one Idea and one value in memory at a time. A forgotten chain holds nothing.
func (s *Store) Find(ctx context.Context, processID string, needle texts.Needle) (findings *Findings, err error) {
	defer wrapError(&err, "look through the Ideas of %s", processID)
	ctx = blobs.WithProcess(ctx, processID)
	ideaNumbers, _, err := s.ideaNumbers(ctx, processID)
	f := finder{Store: s, processID: processID, needle: needle, digestsWithoutText: map[string]bool{}}
	for _, number := range ideaNumbers {
		if err != nil {
			break
		}
		err = f.searchIdea(ctx, number)
		switch {
		case errors.Is(err, blobs.ErrForgotten):
			err = nil
		case isBroken(err):
			f.UnreadableIdeaNumbers, err = append(f.UnreadableIdeaNumbers, number), nil
		}
	}
	slices.SortFunc(f.Matches, func(a, b InstanceMatch) int { return strings.Compare(a.Instance, b.Instance) })
	return &f.Findings, err
}

// finder looks through one chain.
type finder struct {
	*Store
	Findings
	processID          string
	needle             texts.Needle
	lastIdea           *loadedIdea
	digestsWithoutText map[string]bool // digests of large values without the text
}

func (f *finder) searchIdea(ctx context.Context, ideaNumber int) error {
	m, err := f.manifest(ctx, f.processID, ideaNumber)
	if err != nil {
		return err
	}
	var d ideaContent
	d, f.lastIdea, err = f.readContent(ctx, m, f.lastIdea)
	if err != nil {
		return err
	}
	return d.walkTexts(f.newMatchWalker(ctx, func(place texts.Place) { f.addMatch(ideaNumber, place) }))
}

// newMatchWalker reports every place that holds the text.
func (f *finder) newMatchWalker(ctx context.Context, onMatch func(texts.Place)) texts.Walker {
	checkText := func(place texts.Place, text string) {
		if f.needle.IsIn(text) {
			onMatch(place)
		}
	}
	load := func(h jsonval.BlobHandle) (any, error) { return f.loadUnlessKnownWithoutText(ctx, h) }
	return texts.Walker{Load: load, OnText: checkText, OnNumber: checkText}
}

// loadUnlessKnownWithoutText loads a large value. It returns nil for one that is known not to hold the text, instead of
// reading it again.
func (f *finder) loadUnlessKnownWithoutText(ctx context.Context, h jsonval.BlobHandle) (any, error) {
	if f.digestsWithoutText[h.Digest] {
		return nil, nil
	}
	v, err := f.readStoredValue(ctx, h.Digest)
	if err != nil {
		return nil, err
	}
	hasMatch := false
	err = f.newMatchWalker(ctx, func(texts.Place) { hasMatch = true }).WalkValue(v, texts.Place{})
	f.digestsWithoutText[h.Digest] = err == nil && !hasMatch
	return v, err
}

func (f *finder) addMatch(ideaNumber int, place texts.Place) {
	index := slices.IndexFunc(f.Matches, func(i InstanceMatch) bool { return i.Instance == place.InstanceToken })
	if index < 0 {
		index = len(f.Matches)
		f.Matches = append(f.Matches, InstanceMatch{Instance: place.InstanceToken, FirstIdeaNumber: ideaNumber})
	}
	match := &f.Matches[index]
	if match.LastIdeaNumber = ideaNumber; !slices.Contains(match.Paths, place.Path) {
		match.Paths = append(match.Paths, place.Path)
	}
}
