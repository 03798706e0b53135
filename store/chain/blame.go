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
	Process  string `json:"process"`
	Instance string `json:"instance"`
	Path     string `json:"path"`
	Idea     int    `json:"idea"` // the number of the Idea that has Value
	// SealedAt is when that Idea was made. Later changes are in the next Idea.
	SealedAt time.Time `json:"createdAt,omitzero"`
	Value    any       `json:"value"`
	// Removed reports that the value no longer exists: Last removed it.
	Removed bool `json:"gone,omitempty"`
	// Author is a Call's id, a person (person:NAME), "start" for a value from the beginning, or "unknown" if the log does
	// not say. For "start", Origin is the Idea that the process was forked from. Found is the Idea of that process, or
	// of an earlier origin, that has the value; nil if no existing Idea has it.
	Author  string `json:"by"`
	Origin  any    `json:"origin,omitempty"`
	FoundIn *Found `json:"found,omitempty"`
	// LastWrite is the write that counts. Earlier are the writes before it, the latest first.
	LastWrite     *Written      `json:"last,omitempty"`
	EarlierWrites []Written     `json:"earlier"`
	Call          *ProposedCall `json:"call,omitempty"`
	// Decisions are the decisions on the Call or on the revision, in order. Decision is the last of them.
	Decisions []approval.Decision `json:"decisions,omitempty"`
	Decision  *approval.Decision  `json:"decision,omitempty"`
	// ParamsAdaptation is how the LLM adapted the Call's parameters before it ran.
	ParamsAdaptation *approval.ParamsAdaptation `json:"adapted,omitempty"`
	// SinceIdea is, for an unknown author, the first Idea that shows the value.
	SinceIdea int `json:"since,omitempty"`

	executedCall *turn.ExecutedCall
}

// Found is an Idea that has a value.
type Found struct {
	Process string `json:"process"`
	Idea    int    `json:"idea"`
}

// Written is one write that a path's value comes from.
type Written struct {
	Author    string    `json:"by"`
	Idea      int       `json:"idea"` // the Idea whose log has the write
	WrittenAt time.Time `json:"when,omitzero"`
	Path      string    `json:"path"`
	Method    string    `json:"method,omitempty"`
	Value     any       `json:"value"`

	entry turn.LogEntry
}

// ProposedCall is the Call that wrote the value, as the LLM proposed it. Tool is the Tool that ran.
type ProposedCall struct {
	ID           string `json:"id"`
	Request      int    `json:"request"`
	Tool         string `json:"tool"`
	ProposedJSON any    `json:"written"`
	// Executed is the Call as it ran after people's decisions; nil if there were none, or if nothing ran.
	Executed *turn.ExecutedCall `json:"ran,omitempty"`
	// Reads are the References in the Call, with their values in the Idea whose log has the write.
	Reads []Read `json:"reads"`
	// SeenIdea is the Idea that shows what the LLM had seen; 0 where that Request sealed no Idea. If Part is set, the
	// Idea belongs to Part, the process that made the Request.
	SeenIdea    int    `json:"saw,omitempty"`
	PartProcess string `json:"part,omitempty"`
}

// Read is one Reference of a Call. Found is false where the Idea holds nothing there.
type Read struct {
	Reference string `json:"reference"`
	Value     any    `json:"value"`
	Exists    bool   `json:"found"`
}

// The authors of values that no log entry explains.
const (
	AuthorStart   = statelog.AuthorStart
	AuthorUnknown = "unknown"
)

// Errors of Blame and ParseStatePlace.
var (
	ErrNoValue  = errors.New("nothing stands there, and nobody wrote there")
	ErrBadPlace = errors.New("no place in a State")
)

// Blame returns who wrote a value last, as an Idea shows it (0: the latest). The place is ①:user.name, or user.name in
// the anonymous instance.
func (s *Store) Blame(ctx context.Context, process, place string, ideaNumber int) (b *Blame, err error) {
	defer wrapError(&err, "blame %s of %s", place, process)
	return s.blame(blobs.ForProcess(ctx, process), process, place, ideaNumber)
}

func (s *Store) blame(ctx context.Context, process, place string, number int) (*Blame, error) {
	manifests, err := s.manifestsUpTo(ctx, process, number)
	if err != nil {
		return nil, err
	}
	latest := manifests[len(manifests)-1]
	wholeIdea, _, err := s.load(ctx, latest, nil)
	if err != nil {
		return nil, err
	}
	contexts := ideafile.SplitContextByInstance(wholeIdea["context"])
	instance, path, err := ParseStatePlace(contexts, place)
	if err != nil {
		return nil, err
	}
	b := &Blame{Process: process, Instance: instance, Path: path.String(), Idea: latest.metaNumber("at"),
		EarlierWrites: []Written{}}
	state := contexts.InstanceView(instance).PayloadByKind[ideafile.TypeState]
	value, exists := jsonval.ValueAt(state, path)
	b.Value, b.Removed, b.SealedAt = value, !exists, latest.link().Created
	writes, entries, err := s.instanceLog(ctx, instance, manifests)
	if err == nil {
		err = s.findContributingWrites(ctx, b, writes, manifests[0], path)
	}
	switch {
	case err != nil:
	case b.LastWrite != nil && (exists || jsonval.CanSetAt(state, path)):
		b.Decisions, b.executedCall = turn.DecisionsForWrite(b.LastWrite.entry, entries)
		if n := len(b.Decisions); n > 0 {
			b.Decision = &b.Decisions[n-1]
		}
		err = s.findProposedCall(ctx, b, manifests)
	case exists:
		err = s.findUnloggedAuthor(ctx, b, manifests, path)
		if err == nil && b.Origin != nil {
			b.FoundIn, err = s.findInOrigin(ctx, b, place)
		}
	default:
		err = s.noValueError(b, state, path)
	}
	return b, err
}

// findInOrigin finds the Idea of another process that has the initial value of a fork.
func (s *Store) findInOrigin(ctx context.Context, b *Blame, place string) (*Found, error) {
	origin := &manifest{Meta: jsonval.AsObject(b.Origin)}
	process, ideaNumber := origin.metaText("process"), origin.metaNumber("at")
	originBlame, err := s.blame(blobs.ForProcess(ctx, process), process, place, ideaNumber)
	switch {
	case isBroken(err), errors.Is(err, ErrNoIdea), errors.Is(err, ErrNoValue), errors.Is(err, ErrBadPlace):
		return nil, nil
	case err != nil:
		return nil, err
	case !jsonval.Equal(originBlame.Value, b.Value):
		return nil, nil
	}
	return cmp.Or(originBlame.FoundIn, &Found{process, ideaNumber}), nil
}

// noValueError explains why there is nothing to blame. Writes since the latest Idea are in the next one.
func (s *Store) noValueError(b *Blame, state any, path jsonval.Path) error {
	reason := ""
	if !jsonval.CanSetAt(state, path) {
		reason = fmt.Sprintf("; what stands above it is %s",
			jsonval.ClipForError(jsonval.EncodeToString(jsonval.NearestAncestorValue(state, path))))
	}
	return fmt.Errorf("%w, as of Idea %d, sealed at %s%s", ErrNoValue, b.Idea, b.SealedAt.Format(time.RFC3339), reason)
}

// manifestsUpTo reads the manifests of the Ideas up to a number; 0 means all.
func (s *Store) manifestsUpTo(ctx context.Context, process string, number int) ([]*manifest, error) {
	all, err := s.manifests(ctx, process)
	if err != nil || number == 0 {
		return all, err
	}
	for i, m := range all {
		if m.metaNumber("at") == number {
			return all[:i+1], nil
		}
	}
	return nil, fmt.Errorf("Idea %d: %w", number, ErrNoIdea)
}

// ParseStatePlace parses a place in an instance's State, ①:user.name. A token may contain a colon: the longest token
// that the context knows wins. The error wraps ErrBadPlace.
func ParseStatePlace(contexts ideafile.ContextByInstance, place string) (instance string, p jsonval.Path, err error) {
	instance, rest, hasToken := cutInstanceToken(contexts, place)
	if !hasToken && !contexts.HasInstance("") {
		return "", nil, fmt.Errorf("%w: it names none of the %d instances; write %s:PATH", ErrBadPlace,
			len(contexts.InstanceTokens), contexts.InstanceTokens[0])
	}
	p, err = parseStatePath(rest)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrBadPlace, err)
	}
	return instance, p, nil
}

// cutInstanceToken cuts the token, in either spelling, off the front of a place.
func cutInstanceToken(contexts ideafile.ContextByInstance, place string) (instance, rest string, hasToken bool) {
	maxLength := -1
	rest = place
	for t := range contexts.MessagesByInstance {
		for _, word := range []string{t, spelling.TypeableToken(t)} {
			if after, ok := strings.CutPrefix(place, word+":"); ok && len(word) > maxLength {
				instance, rest, hasToken, maxLength = t, after, true, len(word)
			}
		}
	}
	return instance, rest, hasToken
}

// parseStatePath reads user.name, and †state.user.name too.
func parseStatePath(text string) (jsonval.Path, error) {
	if !refexpr.IsReference(text) {
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
	manifests []*manifest) (writes []Written, entries []turn.LogEntry, err error) {
	err = s.eachEntry(ctx, manifests, false, func(m *manifest, e turn.LogEntry) {
		if e.Instance != token {
			return
		}
		entries = append(entries, e)
		if e.IsWrite() {
			writes = append(writes, Written{e.Author, m.metaNumber("at"), e.WrittenAt, e.Path.String(),
				e.OutputMethod, e.Value, e})
		}
	})
	return writes, entries, err
}

// findContributingWrites finds the writes that made the value at a path. The last write in Plan order becomes b.Last.
func (s *Store) findContributingWrites(ctx context.Context, b *Blame, writes []Written, firstManifest *manifest,
	path jsonval.Path) (err error) {
	var overlapping []Written
	for _, w := range writes {
		if w.entry.Path.Overlaps(path) {
			if w.Value, err = s.values.Restore(ctx, w.Value); err != nil {
				return err
			}
			w.entry.Value = w.Value
			overlapping = append(overlapping, w)
		}
	}
	slices.SortStableFunc(overlapping, func(x, y Written) int { return comparePlanOrder(x.entry, y.entry) })
	overlapping, err = s.dropOverwritten(ctx, b, overlapping, firstManifest, path)
	if err != nil || len(overlapping) == 0 {
		return err
	}
	slices.Reverse(overlapping)
	b.LastWrite, b.EarlierWrites = &overlapping[0], overlapping[1:]
	b.Author, b.ParamsAdaptation = b.LastWrite.Author, b.LastWrite.entry.ParamsAdaptation
	return nil
}

// dropOverwritten drops the writes that do not contribute to the value, such as a push of another element. If the
// logged writes do not lead from the first Idea to the value, every write that overlaps the path counts.
func (s *Store) dropOverwritten(ctx context.Context, b *Blame, writes []Written, firstManifest *manifest,
	path jsonval.Path) ([]Written, error) {
	wholeIdea, _, err := s.load(ctx, firstManifest, nil)
	if err != nil {
		return nil, err
	}
	entries := make([]turn.LogEntry, len(writes))
	for n, w := range writes {
		entries[n] = w.entry
	}
	initialState := stateBeforeIdeaWrites(stateOfInstance(wholeIdea, b.Instance), writes, firstManifest.metaNumber("at"))
	indexes, value := contributingWrites(initialState, entries, path)
	var contributing []Written
	for n, w := range writes {
		if slices.Contains(indexes, n) || (!jsonval.Equal(value, b.Value) && w.entry.OverlapsPath(path)) {
			contributing = append(contributing, w)
		}
	}
	return contributing, nil
}

// stateOfInstance returns the State of an instance in a whole Idea.
func stateOfInstance(wholeIdea jsonval.Object, instance string) any {
	views := ideafile.SplitContextByInstance(wholeIdea["context"])
	return views.InstanceView(instance).PayloadByKind[ideafile.TypeState]
}

// stateBeforeIdeaWrites returns the State of the first Idea without the writes of that Idea's own log. A fork has such
// writes if Calls ran before its first Request.
func stateBeforeIdeaWrites(state any, writes []Written, firstIdea int) any {
	for _, w := range writes {
		if w.Idea == firstIdea && !statelog.IsUpdateWrite(w.Method, w.entry.Path) {
			if before, ok := jsonval.RemoveAt(state, w.entry.Path); ok {
				state = before
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
