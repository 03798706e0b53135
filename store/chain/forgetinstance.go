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
	ForgetRecord
	Instance string `json:"instance"`
	// Mentions are remaining places that may reveal the instance.
	Mentions []Mention `json:"mentions,omitempty"`
}

// Mention is a remaining place in Ideas, and why it may reveal a removed instance.
type Mention struct {
	Process     string `json:"process"`
	IdeaNumbers []int  `json:"ideas"`
	Path        string `json:"part"`
	Reason      string `json:"why"`
}

// forgetJournal lists what is to be done once the Ideas have been written without the instance.
type forgetJournal struct {
	InstanceToken        string       `json:"token"`
	Forgotten            ForgetRecord `json:"forgotten"`
	RewrittenProcessIDs  []string     `json:"chains"`    // processes whose Ideas were rewritten
	ForgottenDelegateIDs []string     `json:"delegates"` // delegates that are forgotten as a whole
	RemovableValueNames  []string     `json:"values"`    // names of the values that may be removed
	IdeaCount            int          `json:"ideas"`
	Mentions             []Mention    `json:"mentions"`
}

const (
	journalNameSuffix  = "/forgetting"
	redactedNameSuffix = ".without"
)

func journalName(processID string) string {
	return strings.TrimSuffix(ideasFolder(processID), "/") + journalNameSuffix
}

// ForgetInstance removes one instance from all Ideas of a process, forgets its delegates, and removes the values that
// only it needed. Every Idea keeps its digest; a last Idea records when, by whom and why, with the digests of what is
// left. If the store has keys, the process gets a new data key and the previous one is destroyed. After an
// interruption, calling ForgetInstance again completes it.
func (s *Store) ForgetInstance(ctx context.Context, f ForgetOptions) (result *ForgetResult, err error) {
	defer wrapError(&err, "forget %s of %s", f.InstanceToken, f.RootProcessID)
	ctx = blobs.WithProcess(ctx, f.RootProcessID)
	var j forgetJournal
	data, hasJournal, err := s.blobStore.Read(ctx, journalName(f.RootProcessID))
	switch {
	case err != nil:
		return nil, err
	case hasJournal:
		if err := json.Unmarshal(data, &j); err != nil {
			return nil, fmt.Errorf("read %s: %w", journalName(f.RootProcessID), err)
		}
		if j.InstanceToken != f.InstanceToken {
			return nil, fmt.Errorf("forgetting %s was interrupted: forget that again first", j.InstanceToken)
		}
	default:
		if j, err = s.writeRedactedChains(ctx, f); err != nil {
			return nil, err
		}
		if err := s.blobStore.Write(ctx, journalName(f.RootProcessID),
			jsonval.Encode(jsonval.ToJSONValue(j))); err != nil {
			return nil, err
		}
	}
	return s.completeForget(ctx, f, j)
}

// FindInstance returns the token of an instance in the Ideas of a process or of its parts. typedToken may be in either
// spelling. The error wraps ErrNoInstance if no Idea names it.
func (s *Store) FindInstance(ctx context.Context, processID, typedToken string) (token string, err error) {
	defer wrapError(&err, "find instance %q of %s", typedToken, processID)
	processIDs, err := s.listProcessTree(ctx, processID)
	for _, id := range processIDs {
		if err != nil || token != "" || strings.Contains(id, "/~call/") {
			continue
		}
		err = s.eachLoadedIdea(blobs.WithProcess(ctx, id), id, func(_ *manifest, loaded *loadedIdea) error {
			if token == "" {
				token, _ = ideafile.SplitContextByInstance(loaded.body["context"]).FindInstanceToken(typedToken)
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
func (s *Store) ForgottenInstances(ctx context.Context, processID string) (map[string]ForgetRecord, error) {
	forgetRecordByToken := map[string]ForgetRecord{}
	ideaNumber, err := s.LatestIdeaNumber(ctx, processID)
	for ; err == nil && ideaNumber > 0; ideaNumber-- { // the Ideas that record removals end the chain
		var m *manifest
		if m, err = s.manifest(ctx, processID, ideaNumber); err != nil {
			break
		}
		record := m.forgottenInstance()
		if record.Instance == "" {
			break
		}
		forgetRecordByToken[record.Instance] = record.ForgetRecord
	}
	if isBroken(err) {
		err = nil // Verify reports it
	}
	return forgetRecordByToken, err
}

// writeRedactedChains rewrites the Ideas of the chains that have the instance, beside the originals.
func (s *Store) writeRedactedChains(ctx context.Context, f ForgetOptions) (j forgetJournal, err error) {
	j = forgetJournal{InstanceToken: f.InstanceToken, Forgotten: f.ForgetRecord}
	processIDs, err := s.listProcessTree(ctx, f.RootProcessID)
	if err != nil {
		return j, err
	}
	var candidateProcessIDs []string
	for _, processID := range processIDs {
		switch {
		case protocol.BelongsToInstance(processID, f.InstanceToken):
			j.ForgottenDelegateIDs = append(j.ForgottenDelegateIDs, processID)
		case !strings.Contains(processID, "/~call/"):
			candidateProcessIDs = append(candidateProcessIDs, processID)
		}
	}
	r := &redaction{instanceToken: f.InstanceToken, isOnlyInInstanceByText: map[string]bool{}}
	if j.RewrittenProcessIDs, err = s.chainsWithInstance(ctx, r, candidateProcessIDs); err != nil {
		return j, err
	}
	j.Mentions = r.recordedMentions
	if j.RemovableValueNames, err = s.removableValues(ctx, f,
		slices.Concat(j.RewrittenProcessIDs, j.ForgottenDelegateIDs)); err != nil {
		return j, err
	}
	for _, processID := range j.RewrittenProcessIDs {
		ideaCount, mentions, err := s.writeRedactedChain(ctx, r, processID, f)
		if err != nil {
			return j, fmt.Errorf("write the Ideas of %s without it: %w", processID, err)
		}
		j.IdeaCount, j.Mentions = j.IdeaCount+ideaCount, append(j.Mentions, mentions...)
	}
	return j, nil
}

// chainsWithInstance reads all Ideas, and returns the chains that have the instance.
func (s *Store) chainsWithInstance(ctx context.Context, r *redaction,
	processIDs []string) (matchingProcessIDs []string, err error) {
	for _, processID := range processIDs {
		hasInstance := false
		err := s.eachLoadedIdea(ctx, processID, func(m *manifest, st *loadedIdea) error {
			hasInstance = r.collectTexts(m, st.body) || hasInstance
			return nil
		})
		if err != nil {
			return nil, err
		}
		if hasInstance {
			matchingProcessIDs = append(matchingProcessIDs, processID)
		}
	}
	r.buildNeedles()
	switch {
	case len(matchingProcessIDs) == 0 && r.alreadyRedacted:
		return nil, nil
	case len(matchingProcessIDs) == 0:
		return nil, ErrNoInstance
	case len(r.otherInstanceTokens) == 0:
		return nil, ErrOnlyInstance
	}
	return matchingProcessIDs, nil
}

// eachLoadedIdea reads the Ideas of a chain one after the other.
func (s *Store) eachLoadedIdea(ctx context.Context, processID string, visit func(*manifest, *loadedIdea) error) error {
	numbers, _, err := s.ideaNumbers(ctx, processID)
	if err != nil {
		return err
	}
	var previous *loadedIdea
	for _, number := range numbers {
		m, err := s.manifest(ctx, processID, number)
		if err == nil {
			previous, err = s.readIdea(ctx, m, previous)
		}
		if err == nil {
			err = visit(m, previous)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removableValues lists the values that the chains and histories to be removed refer to.
func (s *Store) removableValues(ctx context.Context, f ForgetOptions,
	processIDs []string) (valueNames []string, err error) {
	contents, _, err := f.readTemporalReferences(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.markReferenced(blobs.WithProcess(ctx, ""), contents, f, processIDs, false, nil)
	if err != nil {
		return nil, err
	}
	for _, v := range c.neededValues {
		valueNames = append(valueNames, v.Name)
	}
	return valueNames, nil
}

// writeRedactedChain writes the Ideas of one chain without the instance, and one more Idea that records this.
func (s *Store) writeRedactedChain(
	ctx context.Context, r *redaction, processID string, f ForgetOptions,
) (changedIdeaCount int, mentions []Mention, err error) {
	ctx = blobs.WithProcess(ctx, processID)
	var lastIdea *loadedIdea
	var lastManifest *manifest
	var redactedContent ideaContent
	var redactedIdeas []redactedIdea
	mentionSearch := &mentionFinder{processID: processID, redaction: r}
	err = s.eachLoadedIdea(ctx, processID, func(m *manifest, st *loadedIdea) error {
		log, err := s.logValue(ctx, m)
		if err != nil {
			return err
		}
		redactedContent = r.redactContent(ideaContent{m.Meta, st.body, log})
		digest, ideaBytes, err := redactedContent.digest(ctx, s.blobStore)
		if err != nil {
			return err
		}
		lastManifest, lastIdea, err = s.storeIdea(ctx, redactedContent, st.number, m.Digest, lastIdea, ideaBytes)
		if err != nil {
			return err
		}
		if digest != m.Digest {
			lastManifest.RedactedDigest = digest
			changedIdeaCount++
		}
		redactedIdeas = append(redactedIdeas, redactedIdea{st.number, m.Digest, lastManifest.RedactedDigest})
		if err := mentionSearch.collect(s.valueLoader(ctx), st.number, redactedContent); err != nil {
			return err
		}
		return s.blobStore.Write(ctx, ManifestName(processID, st.number)+redactedNameSuffix, lastManifest.encode())
	})
	if err != nil {
		return 0, nil, err
	}
	record, err := s.storeInstanceRecord(ctx, lastManifest, redactedContent, f, redactedIdeas, lastIdea, mentionSearch)
	if err == nil {
		err = s.blobStore.Write(ctx, ManifestName(processID, record.metaNumber("at"))+redactedNameSuffix,
			record.encode())
	}
	return changedIdeaCount, mentionSearch.mentions, err
}

// storeInstanceRecord stores the Idea which records that an instance was forgotten. It has the body of the last Idea,
// without Calls.
func (s *Store) storeInstanceRecord(
	ctx context.Context, lastManifest *manifest, redactedContent ideaContent, f ForgetOptions,
	redactedIdeas []redactedIdea,
	lastIdea *loadedIdea,
	mentionSearch *mentionFinder,
) (*manifest, error) {
	idea := joinIdea(jsonval.WithoutKey(redactedContent.meta, "llm"), redactedContent.body)
	if solution, ok := idea["solution"].(jsonval.Object); ok {
		solution = maps.Clone(solution)
		idea["solution"], solution["calls"] = solution, []any{}
	}
	e := IdeaToSeal{ProcessID: lastManifest.metaText("process"), IdeaNumber: lastIdea.number + 1,
		ParentDigest: lastManifest.Digest, Idea: idea,
		Created: f.ForgottenAt}
	d, err := e.content()
	if err == nil {
		err = mentionSearch.collect(s.valueLoader(ctx), e.IdeaNumber, d)
	}
	if err != nil {
		return nil, err
	}
	record := jsonval.AsObject(jsonval.ToJSONValue(ForgottenInstance{f.ForgetRecord, f.InstanceToken,
		mentionSearch.mentions}))
	record[redactedIdeasKey] = jsonval.ToJSONValue(redactedIdeas)
	return s.storeForgetRecord(ctx, e, forgottenInstanceMetaKey, record, lastIdea)
}

// valueLoader returns a loader of stored values; it loads nil for a broken one.
func (s *Store) valueLoader(ctx context.Context) func(jsonval.BlobHandle) (any, error) {
	return func(h jsonval.BlobHandle) (any, error) {
		v, err := s.readStoredValue(ctx, h.Digest)
		if isBroken(err) {
			return nil, nil
		}
		return v, err
	}
}

// mentionFinder collects the places in a chain's Ideas that may reveal the removed instance.
type mentionFinder struct {
	processID string
	redaction *redaction
	mentions  []Mention
}

func (g *mentionFinder) collect(load func(jsonval.BlobHandle) (any, error), ideaNumber int,
	redactedContent ideaContent) error {
	w := texts.Walker{Load: load, OnText: func(place texts.Place, text string) {
		reason := g.redaction.mentionReason(place, text)
		if reason == "" {
			return
		}
		mentionPath := place.Path
		for g.redaction.mentionReason(texts.Place{}, mentionPath) != "" { // a key reveals it: keep it out of the record
			mentionPath = mentionPath[:max(strings.LastIndexByte(mentionPath, '.'), 0)]
		}
		n := slices.IndexFunc(g.mentions, func(m Mention) bool { return m.Path == mentionPath && m.Reason == reason })
		if n < 0 {
			n = len(g.mentions)
			g.mentions = append(g.mentions, Mention{Process: g.processID, Path: mentionPath, Reason: reason})
		}
		if ideaNumbers := g.mentions[n].IdeaNumbers; len(ideaNumbers) == 0 ||
			ideaNumbers[len(ideaNumbers)-1] != ideaNumber {
			g.mentions[n].IdeaNumbers = append(ideaNumbers, ideaNumber)
		}
	}}
	return redactedContent.walkTexts(w)
}

// completeForget carries out a journal.
func (s *Store) completeForget(ctx context.Context, f ForgetOptions, j forgetJournal) (*ForgetResult, error) {
	result := &ForgetResult{AffectedProcessIDs: append(j.RewrittenProcessIDs, j.ForgottenDelegateIDs...),
		AffectedIdeaCount: j.IdeaCount, Mentions: j.Mentions}
	for _, processID := range j.RewrittenProcessIDs {
		if err := s.eachRedacted(ctx, processID, s.replaceByRedacted); err != nil {
			return nil, err
		}
		s.latestIdeas.Remove(processID)
	}
	for _, processID := range j.ForgottenDelegateIDs {
		_, err := s.sealForgetRecord(blobs.WithProcess(ctx, processID), processID, j.Forgotten)
		if err == nil {
			err = s.eraseChain(blobs.WithProcess(ctx, processID), processID)
		}
		if err != nil {
			return nil, fmt.Errorf("empty the chain of %s: %w", processID, err)
		}
	}
	listUnneeded := func(ctx context.Context) ([]*collectableValue, error) {
		return s.unneededValues(ctx, f, j.RemovableValueNames)
	}
	if err := s.removeUnshared(blobs.WithProcess(ctx, ""), f.RemovalNoticePeriod, listUnneeded, result); err != nil {
		return nil, fmt.Errorf("remove values: %w", err)
	}
	if len(j.RewrittenProcessIDs)+len(j.RemovableValueNames) > 0 {
		var err error
		if result.KeyDestroyed, err = s.renewKey(blobs.WithProcess(ctx, ""), f); err != nil {
			return nil, fmt.Errorf("encrypt what stays with another data key: %w", err)
		}
	}
	remove := func(ctx context.Context, redactedName, _ string) error {
		return s.blobStore.Remove(ctx, redactedName)
	}
	for _, processID := range j.RewrittenProcessIDs {
		if err := s.eachRedacted(ctx, processID, remove); err != nil {
			return nil, err
		}
	}
	return result, s.blobStore.Remove(ctx, journalName(f.RootProcessID))
}

// eachRedacted visits the rewritten Ideas of a chain.
func (s *Store) eachRedacted(
	ctx context.Context, processID string, visit func(ctx context.Context, redactedName, manifestName string) error,
) error {
	ctx = blobs.WithProcess(ctx, processID)
	_, otherFiles, err := s.ideaNumbers(ctx, processID)
	for _, name := range otherFiles {
		if manifestName, isRedacted := strings.CutSuffix(name, redactedNameSuffix); isRedacted && err == nil {
			err = visit(ctx, name, manifestName)
		}
	}
	return err
}

func (s *Store) replaceByRedacted(ctx context.Context, redactedName, manifestName string) error {
	data, _, err := s.blobStore.Read(ctx, redactedName)
	if err == nil {
		err = s.blobStore.Write(ctx, manifestName, data)
	}
	return err
}

// unneededValues returns the named values that nothing refers to.
func (s *Store) unneededValues(
	ctx context.Context, f ForgetOptions, valueNames []string,
) (unneeded []*collectableValue, err error) {
	c, err := s.markAllReferenced(ctx, f, nil)
	if err != nil {
		return nil, err
	}
	for _, name := range valueNames {
		if v := c.valueByName[name]; v != nil && !v.isNeeded {
			unneeded = append(unneeded, v)
		}
	}
	return unneeded, nil
}

// markAllReferenced marks all values that remaining chains, histories and other items refer to.
func (s *Store) markAllReferenced(ctx context.Context, f ForgetOptions,
	onNeededValue func(digestReference) error) (*collector, error) {
	_, contents, err := f.readTemporalReferences(ctx)
	if err != nil {
		return nil, err
	}
	return s.markReferenced(ctx, contents, f, nil, true, onNeededValue)
}

// renewKey encrypts what remains of the process with a new data key, and destroys the previous one.
func (s *Store) renewKey(ctx context.Context, f ForgetOptions) (isOldKeyDestroyed bool, err error) {
	renewal, err := s.blobStore.BeginKeyRenewal(ctx, f.RootProcessID)
	if renewal == nil || err != nil {
		return false, err
	}
	_, err = s.markAllReferenced(ctx, f, func(r digestReference) error {
		if r.rootProcessID != f.RootProcessID {
			return nil
		}
		return renewal.ReencryptValue(ctx, r.digest)
	})
	if err != nil {
		return false, err
	}
	processIDs, err := s.listProcessTree(ctx, f.RootProcessID)
	if err != nil {
		return false, err
	}
	for _, processID := range processIDs {
		items, err := s.blobStore.ListUnder(ctx, ideasFolder(processID))
		if err != nil {
			return false, err
		}
		for _, i := range items {
			if err := renewal.ReencryptObject(ctx, i.Name); err != nil {
				return false, err
			}
		}
	}
	if err := renewal.Finish(ctx); err != nil {
		return false, err
	}
	return true, s.removeUnfinishedFiles(func(name string) bool {
		return strings.HasPrefix(name,
			ideasFolder(f.RootProcessID))
	})
}
