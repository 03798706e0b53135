package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
	"processidea/store/blobs"
)

// Blame says who wrote a value of an instance's State.
type Blame struct {
	Process        string `json:"process"`
	Instance       string `json:"instance"`
	Path           string `json:"path"`
	AsOfIdeaNumber int    `json:"idea"` // the number of the Idea that has Value
	// AsOfSealedAt is when that Idea was made. Later changes are in the next Idea.
	AsOfSealedAt time.Time `json:"createdAt,omitzero"`
	Value        any       `json:"value"`
	// IsRemoved reports that the value no longer exists: LastWrite removed it.
	IsRemoved bool `json:"gone,omitempty"`
	// Author is a Call's id, a person (person:NAME), "start" for a value from the beginning, or "unknown" if the log
	// does not say. For "start", Origin is the Idea that the process was forked from. FoundInOriginIdea is the Idea of
	// that process, or of an earlier origin, that has the value; nil if no existing Idea has it.
	Author            string     `json:"by"`
	ForkOrigin        any        `json:"origin,omitempty"`
	FoundInOriginIdea *FoundIdea `json:"found,omitempty"`
	// LastWrite is the write that counts. EarlierWrites are the writes before it, the latest first.
	LastWrite     *LoggedWrite  `json:"last,omitempty"`
	EarlierWrites []LoggedWrite `json:"earlier"`
	Call          *ProposedCall `json:"call,omitempty"`
	// Decisions are the decisions on the Call or on the revision, in order. LastDecision is the last of them.
	Decisions    []approval.Decision `json:"decisions,omitempty"`
	LastDecision *approval.Decision  `json:"decision,omitempty"`
	// ParamsAdaptation is how the LLM adapted the Call's parameters before it ran.
	ParamsAdaptation *approval.ParamsAdaptation `json:"adapted,omitempty"`
	// ShownSinceIdeaNumber is, for an unknown author, the first Idea that shows the value.
	ShownSinceIdeaNumber int `json:"since,omitempty"`

	executedCall *turn.ExecutedCall
}

// FoundIdea is an Idea that has a value.
type FoundIdea struct {
	Process    string `json:"process"`
	IdeaNumber int    `json:"idea"`
}

// LoggedWrite is one write that a path's value comes from.
type LoggedWrite struct {
	Author     string    `json:"by"`
	IdeaNumber int       `json:"idea"` // the Idea whose log has the write
	WrittenAt  time.Time `json:"when,omitzero"`
	Path       string    `json:"path"`
	Method     string    `json:"method,omitempty"`
	Value      any       `json:"value"`

	entry turn.LogEntry
}

// ProposedCall is the Call that wrote the value, as the LLM proposed it. Tool is the Tool that ran.
type ProposedCall struct {
	ID            string `json:"id"`
	RequestNumber int    `json:"request"`
	Tool          string `json:"tool"`
	ProposedJSON  any    `json:"written"`
	// ExecutedCall is the Call as it ran after people's decisions; nil if there were none, or if nothing ran.
	ExecutedCall *turn.ExecutedCall `json:"ran,omitempty"`
	// ResolvedReferences are the References in the Call, with their values in the Idea whose log has the write.
	ResolvedReferences []Read `json:"reads"`
	// SeenIdeaNumber is the Idea that shows what the LLM had seen; 0 where that Request sealed no Idea. If
	// PartProcessID is set, the Idea belongs to that part, the process that made the Request.
	SeenIdeaNumber int    `json:"saw,omitempty"`
	PartProcessID  string `json:"part,omitempty"`
}

// Read is one Reference of a Call. Exists is false where the Idea holds nothing there.
type Read struct {
	Reference string `json:"reference"`
	Value     any    `json:"value"`
	Exists    bool   `json:"found"`
}

// The authors of values that no log entry explains.
const (
	AuthorStart   = statelog.InitialStateAuthor
	AuthorUnknown = "unknown"
)

// Errors of Blame and ParseStatePlace.
var (
	ErrNoValue  = errors.New("nothing stands there, and nobody wrote there")
	ErrBadPlace = errors.New("no place in a State")
)

// Blame returns who wrote a value last, as an Idea shows it (0: the latest). The place is ①:user.name, or user.name in
// the anonymous instance.
func (s *Store) Blame(ctx context.Context, processID, place string, ideaNumber int) (b *Blame, err error) {
	defer wrapError(&err, "blame %s of %s", place, processID)
	return s.blame(blobs.WithProcess(ctx, processID), processID, place, ideaNumber)
}

func (s *Store) blame(ctx context.Context, processID, place string, ideaNumber int) (*Blame, error) {
	manifests, err := s.manifestsUpTo(ctx, processID, ideaNumber)
	if err != nil {
		return nil, err
	}
	latestManifest := manifests[len(manifests)-1]
	wholeIdea, _, err := s.load(ctx, latestManifest, nil)
	if err != nil {
		return nil, err
	}
	splitContext := ideafile.SplitContextByInstance(wholeIdea["context"])
	instance, path, err := ParseStatePlace(splitContext, place)
	if err != nil {
		return nil, err
	}
	b := &Blame{Process: processID, Instance: instance, Path: path.String(),
		AsOfIdeaNumber: latestManifest.metaNumber("at"),
		EarlierWrites:  []LoggedWrite{}}
	state := splitContext.InstanceView(instance).PayloadByKind[ideafile.TypeState]
	value, exists := jsonval.ValueAt(state, path)
	b.Value, b.IsRemoved, b.AsOfSealedAt = value, !exists, latestManifest.link().Created
	writes, entries, err := s.instanceLog(ctx, instance, manifests)
	if err == nil {
		err = s.setContributingWrites(ctx, b, writes, manifests[0], path)
	}
	switch {
	case err != nil:
	case b.LastWrite != nil && (exists || jsonval.CanSetAt(state, path)):
		b.Decisions, b.executedCall = turn.DecisionsForWrite(b.LastWrite.entry, entries)
		if n := len(b.Decisions); n > 0 {
			b.LastDecision = &b.Decisions[n-1]
		}
		err = s.setProposedCall(ctx, b, manifests)
	case exists:
		err = s.setUnloggedAuthor(ctx, b, manifests, path)
		if err == nil && b.ForkOrigin != nil {
			b.FoundInOriginIdea, err = s.findInForkOrigin(ctx, b, place)
		}
	default:
		err = s.noValueError(b, state, path)
	}
	return b, err
}

// findInForkOrigin finds the Idea of another process that has the initial value of a fork.
func (s *Store) findInForkOrigin(ctx context.Context, b *Blame, place string) (*FoundIdea, error) {
	claimedForkOrigin := &manifest{Meta: jsonval.AsObject(b.ForkOrigin)}
	processID, ideaNumber := claimedForkOrigin.metaText("process"), claimedForkOrigin.metaNumber("at")
	originBlame, err := s.blame(blobs.WithProcess(ctx, processID), processID, place, ideaNumber)
	switch {
	case isBroken(err), errors.Is(err, ErrNoIdea), errors.Is(err, ErrNoValue), errors.Is(err, ErrBadPlace):
		return nil, nil
	case err != nil:
		return nil, err
	case !jsonval.Equal(originBlame.Value, b.Value):
		return nil, nil
	}
	return cmp.Or(originBlame.FoundInOriginIdea, &FoundIdea{processID, ideaNumber}), nil
}

// noValueError explains why there is nothing to blame. Writes since the latest Idea are in the next one.
func (s *Store) noValueError(b *Blame, state any, path jsonval.Path) error {
	reason := ""
	if !jsonval.CanSetAt(state, path) {
		reason = fmt.Sprintf("; what stands above it is %s",
			jsonval.ClipForError(jsonval.EncodeToString(jsonval.NearestAncestorValue(state, path))))
	}
	return fmt.Errorf("%w, as of Idea %d, sealed at %s%s", ErrNoValue, b.AsOfIdeaNumber,
		b.AsOfSealedAt.Format(time.RFC3339),
		reason)
}

// manifestsUpTo reads the manifests of the Ideas up to a number; 0 means all.
func (s *Store) manifestsUpTo(ctx context.Context, processID string, ideaNumber int) ([]*manifest, error) {
	allManifests, err := s.manifests(ctx, processID)
	if err != nil || ideaNumber == 0 {
		return allManifests, err
	}
	for i, m := range allManifests {
		if m.metaNumber("at") == ideaNumber {
			return allManifests[:i+1], nil
		}
	}
	return nil, fmt.Errorf("Idea %d: %w", ideaNumber, ErrNoIdea)
}

// ParseStatePlace parses a place in an instance's State, ①:user.name. A token may contain a colon: the longest token
// that the context knows wins. The error wraps ErrBadPlace.
func ParseStatePlace(splitContext ideafile.ContextByInstance,
	place string) (instance string, p jsonval.Path, err error) {
	instance, rest, hasToken := cutInstanceToken(splitContext, place)
	if !hasToken && !splitContext.HasInstance("") {
		return "", nil, fmt.Errorf("%w: it names none of the %d instances; write %s:PATH", ErrBadPlace,
			len(splitContext.InstanceTokens), splitContext.InstanceTokens[0])
	}
	p, err = parseStatePath(rest)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrBadPlace, err)
	}
	return instance, p, nil
}

// cutInstanceToken cuts the token, in either spelling, off the front of a place.
func cutInstanceToken(splitContext ideafile.ContextByInstance, place string) (instance, rest string, hasToken bool) {
	maxLength := -1
	rest = place
	for t := range splitContext.MessagesByInstance {
		for _, word := range []string{t, spelling.TypeableInstanceToken(t)} {
			if textAfterToken, ok := strings.CutPrefix(place, word+":"); ok && len(word) > maxLength {
				instance, rest, hasToken, maxLength = t, textAfterToken, true, len(word)
			}
		}
	}
	return instance, rest, hasToken
}

// parseStatePath reads user.name, and †state.user.name too.
func parseStatePath(text string) (jsonval.Path, error) {
	if !refexpr.IsExpressionOrTemplate(text) {
		return jsonval.ParsePath(text)
	}
	r, err := refexpr.ParseReference(text)
	if err == nil && r.Kind != ideafile.TypeState {
		err = fmt.Errorf("only State has authors, and %s is not in State", r)
	}
	return r.Path, err
}

// instanceLog lists the log entries about an instance, and the writes among them, each with the number of its Idea.
func (s *Store) instanceLog(ctx context.Context, token string,
	manifests []*manifest) (writes []LoggedWrite, entries []turn.LogEntry, err error) {
	err = s.eachLogEntry(ctx, manifests, false, func(m *manifest, e turn.LogEntry) {
		if e.InstanceToken != token {
			return
		}
		entries = append(entries, e)
		if e.IsWrite() {
			writes = append(writes, LoggedWrite{e.Author, m.metaNumber("at"), e.WrittenAt, e.Path.String(),
				e.OutputMethod, e.Value, e})
		}
	})
	return writes, entries, err
}

// setContributingWrites finds the writes that made the value at a path. The last write in Plan order becomes b.Last.
func (s *Store) setContributingWrites(ctx context.Context, b *Blame, writes []LoggedWrite, firstManifest *manifest,
	path jsonval.Path) (err error) {
	var overlappingWrites []LoggedWrite
	for _, w := range writes {
		if w.entry.Path.Overlaps(path) {
			if w.Value, err = s.blobStore.Restore(ctx, w.Value); err != nil {
				return err
			}
			w.entry.Value = w.Value
			overlappingWrites = append(overlappingWrites, w)
		}
	}
	slices.SortStableFunc(overlappingWrites, func(x, y LoggedWrite) int { return comparePlanOrder(x.entry, y.entry) })
	overlappingWrites, err = s.dropOverwritten(ctx, b, overlappingWrites, firstManifest, path)
	if err != nil || len(overlappingWrites) == 0 {
		return err
	}
	slices.Reverse(overlappingWrites)
	b.LastWrite, b.EarlierWrites = &overlappingWrites[0], overlappingWrites[1:]
	b.Author, b.ParamsAdaptation = b.LastWrite.Author, b.LastWrite.entry.ParamsAdaptation
	return nil
}

// dropOverwritten drops the writes that do not contribute to the value, such as a push of another element. If the
// logged writes do not lead from the first Idea to the value, every write that overlaps the path counts.
func (s *Store) dropOverwritten(ctx context.Context, b *Blame, writes []LoggedWrite, firstManifest *manifest,
	path jsonval.Path) ([]LoggedWrite, error) {
	wholeIdea, _, err := s.load(ctx, firstManifest, nil)
	if err != nil {
		return nil, err
	}
	entries := make([]turn.LogEntry, len(writes))
	for n, w := range writes {
		entries[n] = w.entry
	}
	initialState := stateBeforeFirstIdeaWrites(stateOfInstance(wholeIdea, b.Instance), writes,
		firstManifest.metaNumber("at"))
	indexes, value := contributingWriteIndexes(initialState, entries, path)
	var contributing []LoggedWrite
	for n, w := range writes {
		if slices.Contains(indexes, n) || (!jsonval.Equal(value, b.Value) && w.entry.OverlapsPath(path)) {
			contributing = append(contributing, w)
		}
	}
	return contributing, nil
}

// stateOfInstance returns the State of an instance in a whole Idea.
func stateOfInstance(wholeIdea jsonval.Object, instance string) any {
	splitContext := ideafile.SplitContextByInstance(wholeIdea["context"])
	return splitContext.InstanceView(instance).PayloadByKind[ideafile.TypeState]
}

// stateBeforeFirstIdeaWrites returns the State of the first Idea without the writes of that Idea's own log. A fork has
// such writes if Calls ran before its first Request.
func stateBeforeFirstIdeaWrites(state any, writes []LoggedWrite, firstIdeaNumber int) any {
	for _, w := range writes {
		if w.IdeaNumber == firstIdeaNumber && !statelog.IsUpdateWrite(w.Method, w.entry.Path) {
			if stateBefore, ok := jsonval.RemoveAt(state, w.entry.Path); ok {
				state = stateBefore
			}
		}
	}
	return state
}

// joinPath appends a key to a path, as people read it.
func joinPath(path, key string) string {
	p := jsonval.Path{key}.String()
	if path == "" || p[0] == '[' {
		return path + p
	}
	return path + "." + p
}
