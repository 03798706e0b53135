package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// Blame is who wrote a value of an instance's State.
type Blame struct {
	Process  string `json:"process"`
	Instance string `json:"instance"`
	Path     string `json:"path"`
	Idea     int    `json:"idea"` // the one in which Value stands
	Value    any    `json:"value"`
	// By is a Call's id, a person (person:NAME), "start" for what stood there from the beginning, or "unknown" where the
	// log does not say. Origin is, for "start", the Idea that the process was forked from.
	By     string `json:"by"`
	Origin any    `json:"origin,omitempty"`
	// Last is the write that counts, Earlier are those before it, the latest first.
	Last    *Written  `json:"last,omitempty"`
	Earlier []Written `json:"earlier"`
	Call    *Proposed `json:"call,omitempty"`
	// Decision is what a person decided about it.
	Decision *turn.LogDecision `json:"decision,omitempty"`
	// Adapted is what the LLM fitted of the Call's parameters before it ran.
	Adapted *turn.Adaptation `json:"adapted,omitempty"`
	// Since is, for an unknown author, the first Idea that shows the value.
	Since int `json:"since,omitempty"`
}

// Written is one write that a path's value comes from.
type Written struct {
	By     string    `json:"by"`
	Idea   int       `json:"idea"` // the one whose log says so
	When   time.Time `json:"when,omitzero"`
	Path   string    `json:"path"`
	Method string    `json:"method,omitempty"`
	Value  any       `json:"value"`

	entry turn.LogEntry
}

// Proposed is the Call that wrote, as the LLM proposed it.
type Proposed struct {
	ID      string `json:"id"`
	Request int    `json:"request"`
	Tool    string `json:"tool"`
	Written any    `json:"written"`
	// Reads are the References in it, with the values that they have in the Idea whose log tells of the write.
	Reads []Read `json:"reads"`
	// Saw is the Idea that shows what the LLM had seen; 0 where no Idea was sealed by that Request.
	Saw int `json:"saw,omitempty"`
}

// Read is one Reference of a Call. Found is false where the Idea holds nothing there.
type Read struct {
	Reference string `json:"reference"`
	Value     any    `json:"value"`
	Found     bool   `json:"found"`
}

// The authors of what nobody wrote.
const (
	ByStart   = statelog.Start
	ByUnknown = "unknown"
)

// What is wrong with a question.
var (
	ErrNoValue  = errors.New("nothing stands there, and nobody wrote there")
	ErrBadPlace = errors.New("no place in a State")
)

// Blame returns who wrote a value last, as an Idea shows it (0: the latest). The place is ①:user.name, or user.name in the
// anonymous instance.
func (s *Store) Blame(ctx context.Context, process, place string, at int) (*Blame, error) {
	b, err := s.blame(ctx, process, place, at)
	if err != nil {
		return nil, fmt.Errorf("chain: blame %s of %s: %w", place, process, err)
	}
	return b, nil
}

func (s *Store) blame(ctx context.Context, process, place string, at int) (*Blame, error) {
	manifests, err := s.manifestsUpTo(ctx, process, at)
	if err != nil {
		return nil, err
	}
	shown := manifests[len(manifests)-1]
	whole, _, err := s.load(ctx, shown, nil)
	if err != nil {
		return nil, err
	}
	owners := ideafile.SplitContext(whole["context"])
	token, path, err := ReadPlace(owners, place)
	if err != nil {
		return nil, err
	}
	b := &Blame{Process: process, Instance: token, Path: path.String(), Idea: shown.number("at"), Earlier: []Written{}}
	value, there := jsonval.Lookup(owners.View(token).Payload[ideafile.TypeState], path)
	b.Value = value
	if err := s.writes(ctx, b, manifests, path); err != nil {
		return nil, err
	}
	switch {
	case b.Last != nil:
		err = s.propose(ctx, b, manifests)
	case there:
		err = s.unlogged(ctx, b, manifests, path)
	default:
		err = ErrNoValue
	}
	return b, err
}

// manifestsUpTo reads the manifests of the Ideas up to a number; 0 means all.
func (s *Store) manifestsUpTo(ctx context.Context, process string, at int) ([]*manifest, error) {
	all, err := s.manifests(ctx, process)
	if err != nil || at == 0 {
		return all, err
	}
	for i, m := range all {
		if m.number("at") == at {
			return all[:i+1], nil
		}
	}
	return nil, fmt.Errorf("Idea %d: %w", at, ErrNoIdea)
}

// ReadPlace reads a place in an instance's State, ①:user.name. A token may hold a colon: the longest that the context knows
// counts. The error wraps ErrBadPlace.
func ReadPlace(owners ideafile.ContextByOwner, place string) (token string, p jsonval.Path, err error) {
	rest, known := place, owners.HasInstance("")
	for t := range owners.Own {
		if after, ok := strings.CutPrefix(place, t+":"); ok && len(t) >= len(token) {
			token, rest, known = t, after, true
		}
	}
	if !known {
		return "", nil, fmt.Errorf("%w: it names none of the %d instances; write %s:PATH", ErrBadPlace, len(owners.Tokens), owners.Tokens[0])
	}
	p, err = readPath(rest)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrBadPlace, err)
	}
	return token, p, nil
}

// readPath reads user.name, and †state.user.name too.
func readPath(text string) (jsonval.Path, error) {
	if !refexpr.IsReference(text) {
		return jsonval.ParsePath(text)
	}
	r, err := refexpr.ParseReference(text)
	if err == nil && r.Kind != ideafile.TypeState {
		err = fmt.Errorf("only State is written, and %s is none", r)
	}
	return r.Path, err
}

// writes finds the writes that the value at a path comes from. The last one in Plan order is the one that counts.
func (s *Store) writes(ctx context.Context, b *Blame, manifests []*manifest, path jsonval.Path) error {
	var all []Written
	for _, m := range manifests {
		log, err := s.log(ctx, m)
		if err != nil {
			return err
		}
		for _, e := range log {
			if e.Instance != b.Instance || !e.Touches(path) {
				continue
			}
			value, err := s.values.Restore(ctx, e.Value)
			if err != nil {
				return err
			}
			all = append(all, Written{e.By, m.number("at"), e.At, e.Path.String(), e.OutputMethod, value, e})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(x, y Written) int {
		return cmp.Or(cmp.Compare(x.entry.Request, y.entry.Request), cmp.Compare(x.entry.Index, y.entry.Index),
			cmp.Compare(x.entry.Correction, y.entry.Correction))
	})
	slices.Reverse(all)
	b.Last, b.Earlier = &all[0], all[1:]
	b.By, b.Decision, b.Adapted = b.Last.By, b.Last.entry.Decision, b.Last.entry.Adapted
	return nil
}

// join appends a key to a path, as people read it.
func join(path, key string) string {
	p := jsonval.Path{key}.String()
	if path == "" || p[0] == '[' {
		return path + p
	}
	return path + "." + p
}
