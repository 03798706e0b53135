package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/texts"
)

// An instance is forgotten in two steps. First every Idea is written without it, beside the existing one, with a
// journal of what to remove. Then the journal is carried out, and again after any interruption. So a chain can always
// be read or completed.

// ErrNoInstance says that a process has no such instance, ErrOnlyInstance that the process has no other instance.
var (
	ErrNoInstance   = errors.New("the process has no such instance")
	ErrOnlyInstance = errors.New("it is the only instance of the process, which is to be forgotten as a whole")
)

// ForgottenInstance is the record, in an Idea at the end of a chain, that an instance was removed from the Ideas before
// it.
type ForgottenInstance struct {
	Forgotten
	Instance string `json:"instance"`
	// Mentions are remaining places that may reveal the instance.
	Mentions []Mention `json:"mentions,omitempty"`
}

// Mention is a remaining place in Ideas, and why it may reveal a removed instance.
type Mention struct {
	Process string `json:"process"`
	Ideas   []int  `json:"ideas"`
	Part    string `json:"part"`
	Why     string `json:"why"`
}

// journal lists what is to be done once the Ideas have been written without the instance.
type journal struct {
	Token     string    `json:"token"`
	Forgotten Forgotten `json:"forgotten"`
	Chains    []string  `json:"chains"`    // processes whose Ideas were rewritten
	Delegates []string  `json:"delegates"` // delegates that are forgotten as a whole
	Values    []string  `json:"values"`    // names of the values that may be removed
	Ideas     int       `json:"ideas"`
	Mentions  []Mention `json:"mentions"`
}

const (
	journalName    = "/forgetting"
	redactedSuffix = ".without"
)

func journalOf(process string) string { return strings.TrimSuffix(placeOf(process), "/") + journalName }

// ForgetInstance removes one instance from all Ideas of a process, forgets its delegates, and removes the values that
// only it needed. Every Idea keeps its digest; a last Idea records when, by whom and why, with the digests of what is
// left. If the store has keys, the process gets a new data key and the previous one is destroyed. After an
// interruption, calling ForgetInstance again completes it.
func (s *Store) ForgetInstance(ctx context.Context, f ForgetOptions) (done *ForgottenContents, err error) {
	defer wrapError(&err, "forget %s of %s", f.Instance, f.Process)
	ctx = blobs.ForProcess(ctx, f.Process)
	var j journal
	data, begun, err := s.values.Read(ctx, journalOf(f.Process))
	switch {
	case err != nil:
		return nil, err
	case begun:
		if err := json.Unmarshal(data, &j); err != nil {
			return nil, fmt.Errorf("read %s: %w", journalOf(f.Process), err)
		}
		if j.Token != f.Instance {
			return nil, fmt.Errorf("forgetting %s was interrupted: forget that again first", j.Token)
		}
	default:
		if j, err = s.writeAllWithout(ctx, f); err != nil {
			return nil, err
		}
		if err := s.values.Write(ctx, journalOf(f.Process), jsonval.Encode(jsonval.ToJSONValue(j))); err != nil {
			return nil, err
		}
	}
	return s.completeForget(ctx, f, j)
}

// FindInstance returns the token of an instance in the Ideas of a process or of its parts. word may be in either
// spelling. The error wraps ErrNoInstance if no Idea names it.
func (s *Store) FindInstance(ctx context.Context, process, word string) (token string, err error) {
	defer wrapError(&err, "find instance %q of %s", word, process)
	tree, err := s.processTree(ctx, process)
	for _, id := range tree {
		if err != nil || token != "" || strings.Contains(id, "/~call/") {
			continue
		}
		err = s.eachState(blobs.ForProcess(ctx, id), id, func(_ *manifest, st *state) error {
			if token == "" {
				token, _ = ideafile.SplitContextByInstance(st.body["context"]).FindInstanceToken(word)
			}
			return nil
		})
	}
	if err == nil && token == "" {
		err = ErrNoInstance
	}
	return token, err
}

// ForgottenInstances returns the instances that were removed from the Ideas of a process, by token.
func (s *Store) ForgottenInstances(ctx context.Context, process string) (map[string]Forgotten, error) {
	forgotten := map[string]Forgotten{}
	at, err := s.Latest(ctx, process)
	for ; err == nil && at > 0; at-- { // the Ideas that record removals end the chain
		var m *manifest
		if m, err = s.manifest(ctx, process, at); err != nil {
			break
		}
		says := m.forgottenInstance()
		if says.Instance == "" {
			break
		}
		forgotten[says.Instance] = says.Forgotten
	}
	if isBroken(err) {
		err = nil // Verify reports it
	}
	return forgotten, err
}

// writeAllWithout rewrites the Ideas of the chains that have the instance, beside the originals.
func (s *Store) writeAllWithout(ctx context.Context, f ForgetOptions) (j journal, err error) {
	j = journal{Token: f.Instance, Forgotten: f.Forgotten}
	tree, err := s.processTree(ctx, f.Process)
	if err != nil {
		return j, err
	}
	var chains []string
	for _, process := range tree {
		switch {
		case protocol.IsOfInstance(process, f.Instance):
			j.Delegates = append(j.Delegates, process)
		case !strings.Contains(process, "/~call/"):
			chains = append(chains, process)
		}
	}
	r := &redaction{token: f.Instance, ownTexts: map[string]bool{}}
	if j.Chains, err = s.chainsWithInstance(ctx, r, chains); err != nil {
		return j, err
	}
	j.Mentions = r.statedMentions
	if j.Values, err = s.removableValues(ctx, f, slices.Concat(j.Chains, j.Delegates)); err != nil {
		return j, err
	}
	for _, process := range j.Chains {
		ideas, mentions, err := s.writeChainWithout(ctx, r, process, f)
		if err != nil {
			return j, fmt.Errorf("write the Ideas of %s without it: %w", process, err)
		}
		j.Ideas, j.Mentions = j.Ideas+ideas, append(j.Mentions, mentions...)
	}
	return j, nil
}

// chainsWithInstance reads all Ideas, and returns the chains that have the instance.
func (s *Store) chainsWithInstance(ctx context.Context, r *redaction, chains []string) (with []string, err error) {
	for _, process := range chains {
		has := false
		err := s.eachState(ctx, process, func(m *manifest, st *state) error {
			has = r.collectTexts(m, st.body) || has
			return nil
		})
		if err != nil {
			return nil, err
		}
		if has {
			with = append(with, process)
		}
	}
	r.buildNeedles()
	switch {
	case len(with) == 0 && r.done:
		return nil, nil
	case len(with) == 0:
		return nil, ErrNoInstance
	case len(r.otherTokens) == 0:
		return nil, ErrOnlyInstance
	}
	return with, nil
}

// eachState reads the Ideas of a chain one after the other.
func (s *Store) eachState(ctx context.Context, process string, do func(*manifest, *state) error) error {
	numbers, _, err := s.ideaNumbers(ctx, process)
	if err != nil {
		return err
	}
	var known *state
	for _, at := range numbers {
		m, err := s.manifest(ctx, process, at)
		if err == nil {
			known, err = s.state(ctx, m, known)
		}
		if err == nil {
			err = do(m, known)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removableValues lists the values that the chains and histories to be removed refer to.
func (s *Store) removableValues(ctx context.Context, f ForgetOptions, chains []string) (names []string, err error) {
	own, _, err := f.readHeld(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.markReferred(blobs.ForProcess(ctx, ""), own, f, chains, false, nil)
	if err != nil {
		return nil, err
	}
	for _, v := range c.found {
		names = append(names, v.Name)
	}
	return names, nil
}

// writeChainWithout writes the Ideas of one chain without the instance, and one more Idea that records this.
func (s *Store) writeChainWithout(
	ctx context.Context, r *redaction, process string, f ForgetOptions,
) (changed int, mentions []Mention, err error) {
	ctx = blobs.ForProcess(ctx, process)
	var latest *state
	var last *manifest
	var left draft
	var redacted []redactedIdea
	found := &mentionFinder{process: process, r: r}
	err = s.eachState(ctx, process, func(m *manifest, st *state) error {
		log, err := s.logValue(ctx, m)
		if err != nil {
			return err
		}
		left = r.redactDraft(draft{m.Meta, st.body, log})
		digest, size, err := left.digest(ctx, s.values)
		if err != nil {
			return err
		}
		last, latest, err = s.storeIdea(ctx, left, st.at, m.Digest, latest, size)
		if err != nil {
			return err
		}
		if digest != m.Digest {
			last.RedactedDigest = digest
			changed++
		}
		redacted = append(redacted, redactedIdea{st.at, m.Digest, last.RedactedDigest})
		if err := found.collect(s.valueLoader(ctx), st.at, left); err != nil {
			return err
		}
		return s.values.Write(ctx, Place(process, st.at)+redactedSuffix, last.encode())
	})
	if err != nil {
		return 0, nil, err
	}
	note, err := s.forgottenNote(ctx, last, left, f, redacted, latest, found)
	if err == nil {
		err = s.values.Write(ctx, Place(process, note.metaNumber("at"))+redactedSuffix, note.encode())
	}
	return changed, found.list, err
}

// forgottenNote stores the Idea which records that an instance was forgotten. It has the body of the last Idea, without
// Calls.
func (s *Store) forgottenNote(
	ctx context.Context, last *manifest, left draft, f ForgetOptions, redacted []redactedIdea, latest *state,
	found *mentionFinder,
) (*manifest, error) {
	idea := ideaOf(jsonval.WithoutKey(left.meta, "llm"), left.body)
	if solution, ok := idea["solution"].(jsonval.Object); ok {
		solution = maps.Clone(solution)
		idea["solution"], solution["calls"] = solution, []any{}
	}
	e := Entry{Process: last.metaText("process"), At: latest.at + 1, Parent: last.Digest, Idea: idea, Created: f.At}
	d, err := e.draft()
	if err == nil {
		err = found.collect(s.valueLoader(ctx), e.At, d)
	}
	if err != nil {
		return nil, err
	}
	says := jsonval.AsObject(jsonval.ToJSONValue(ForgottenInstance{f.Forgotten, f.Instance, found.list}))
	says[ideasKey] = jsonval.ToJSONValue(redacted)
	return s.storeNote(ctx, e, forgottenInstanceKey, says, latest)
}

// valueLoader returns a loader of stored values; it loads nil for a broken one.
func (s *Store) valueLoader(ctx context.Context) func(jsonval.BlobHandle) (any, error) {
	return func(h jsonval.BlobHandle) (any, error) {
		v, err := s.readPart(ctx, h.Digest)
		if isBroken(err) {
			return nil, nil
		}
		return v, err
	}
}

// mentionFinder collects the places in a chain's Ideas that may reveal the removed instance.
type mentionFinder struct {
	process string
	r       *redaction
	list    []Mention
}

func (g *mentionFinder) collect(load func(jsonval.BlobHandle) (any, error), at int, left draft) error {
	w := texts.Walk{Load: load, OnText: func(place texts.Place, text string) {
		why := g.r.mentionReason(place, text)
		if why == "" {
			return
		}
		part := place.Part
		for g.r.mentionReason(texts.Place{}, part) != "" { // a key reveals it: keep it out of the record
			part = part[:max(strings.LastIndexByte(part, '.'), 0)]
		}
		n := slices.IndexFunc(g.list, func(m Mention) bool { return m.Part == part && m.Why == why })
		if n < 0 {
			n = len(g.list)
			g.list = append(g.list, Mention{Process: g.process, Part: part, Why: why})
		}
		if ideas := g.list[n].Ideas; len(ideas) == 0 || ideas[len(ideas)-1] != at {
			g.list[n].Ideas = append(ideas, at)
		}
	}}
	return left.eachText(w)
}

// completeForget carries out a journal.
func (s *Store) completeForget(ctx context.Context, f ForgetOptions, j journal) (*ForgottenContents, error) {
	done := &ForgottenContents{Chains: append(j.Chains, j.Delegates...), Ideas: j.Ideas, Mentions: j.Mentions}
	for _, process := range j.Chains {
		if err := s.eachRedacted(ctx, process, s.replace); err != nil {
			return nil, err
		}
		s.tips.Remove(process)
	}
	for _, process := range j.Delegates {
		_, err := s.sealForgotten(blobs.ForProcess(ctx, process), process, j.Forgotten)
		if err == nil {
			err = s.eraseChain(blobs.ForProcess(ctx, process), process)
		}
		if err != nil {
			return nil, fmt.Errorf("empty the chain of %s: %w", process, err)
		}
	}
	unneeded := func(ctx context.Context) ([]*collectableValue, error) { return s.unneededValues(ctx, f, j.Values) }
	if err := s.removeUnshared(blobs.ForProcess(ctx, ""), f.QuietPeriod, unneeded, done); err != nil {
		return nil, fmt.Errorf("remove values: %w", err)
	}
	if len(j.Chains)+len(j.Values) > 0 {
		var err error
		if done.KeyDestroyed, err = s.renewKey(blobs.ForProcess(ctx, ""), f); err != nil {
			return nil, fmt.Errorf("encrypt what stays with another data key: %w", err)
		}
	}
	remove := func(ctx context.Context, beside, _ string) error { return s.values.Remove(ctx, beside) }
	for _, process := range j.Chains {
		if err := s.eachRedacted(ctx, process, remove); err != nil {
			return nil, err
		}
	}
	return done, s.values.Remove(ctx, journalOf(f.Process))
}

// eachRedacted visits the rewritten Ideas of a chain.
func (s *Store) eachRedacted(
	ctx context.Context, process string, do func(ctx context.Context, beside, place string) error,
) error {
	ctx = blobs.ForProcess(ctx, process)
	_, strange, err := s.ideaNumbers(ctx, process)
	for _, name := range strange {
		if place, isWithout := strings.CutSuffix(name, redactedSuffix); isWithout && err == nil {
			err = do(ctx, name, place)
		}
	}
	return err
}

func (s *Store) replace(ctx context.Context, beside, place string) error {
	data, _, err := s.values.Read(ctx, beside)
	if err == nil {
		err = s.values.Write(ctx, place, data)
	}
	return err
}

// unneededValues returns the named values that nothing refers to.
func (s *Store) unneededValues(
	ctx context.Context, f ForgetOptions, names []string,
) (list []*collectableValue, err error) {
	c, err := s.markAllReferred(ctx, f, nil)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if v := c.listed[name]; v != nil && !v.needed {
			list = append(list, v)
		}
	}
	return list, nil
}

// markAllReferred marks all values that remaining chains, histories and other items refer to.
func (s *Store) markAllReferred(ctx context.Context, f ForgetOptions, keep func(reference) error) (*collector, error) {
	_, held, err := f.readHeld(ctx)
	if err != nil {
		return nil, err
	}
	return s.markReferred(ctx, held, f, nil, true, keep)
}

// renewKey encrypts what remains of the process with a new data key, and destroys the previous one.
func (s *Store) renewKey(ctx context.Context, f ForgetOptions) (destroyed bool, err error) {
	renewal, err := s.values.RenewDataKey(ctx, f.Process)
	if renewal == nil || err != nil {
		return false, err
	}
	_, err = s.markAllReferred(ctx, f, func(r reference) error {
		if r.process != f.Process {
			return nil
		}
		return renewal.KeepValue(ctx, r.digest)
	})
	if err != nil {
		return false, err
	}
	tree, err := s.processTree(ctx, f.Process)
	if err != nil {
		return false, err
	}
	for _, process := range tree {
		items, err := s.values.ListUnder(ctx, placeOf(process))
		if err != nil {
			return false, err
		}
		for _, i := range items {
			if err := renewal.KeepNamed(ctx, i.Name); err != nil {
				return false, err
			}
		}
	}
	if err := renewal.Finish(ctx); err != nil {
		return false, err
	}
	return true, s.removeUnfinished(func(name string) bool { return strings.HasPrefix(name, placeOf(f.Process)) })
}
