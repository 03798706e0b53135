package client

import (
	"context"
	"slices"

	"processidea/client/internal/kind"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/turn"
	"processidea/store/ideadiff"
)

// Decided is a decision on a Call or on the process: approve, reject, amend, replace or answer; pause, resume, revise
// or add. Its fields are Instance, Idea, Outcome and the fields of approval.Decision.
type Decided struct {
	approval.Decision
	Instance string `json:"instance"`
	// Sentence says what the decided Call does, and InstanceName is the name of its instance.
	Sentence     string `json:"sentence,omitempty"`
	InstanceName string `json:"instanceName,omitempty"`
	// Amount is the first amount of money in the Call; nil: it has none.
	Amount *shown.Field `json:"-"`
	// Idea is the number of the Idea whose log has the decision.
	Idea int `json:"idea"`
	// Outcome is the final outcome of the Call, with the last decision on it; nil until it is known.
	Outcome *turn.CallOutcome `json:"outcome,omitempty"`

	when map[string]any // the condition of its Tool's policy, if it is known
}

// Decisions lists people's decisions up to an Idea (0: the latest), in the order of time, with their outcomes. It reads
// the chain: decisions since the latest Idea are in the next one.
func (c *Chain) Decisions(ctx context.Context, at int) ([]Decided, error) {
	at, err := c.checkIdeaNumber(ctx, "list decisions up to", at)
	if err != nil {
		return nil, err
	}
	return c.decisions(ctx, 1, at)
}

// decisions lists the decisions in the logs of the Ideas from one number to another.
func (c *Chain) decisions(ctx context.Context, from, to int) ([]Decided, error) {
	made, last, remarks := []Decided{}, map[string]int{}, map[string][]approval.Decision{}
	for at := from; at <= to; at++ {
		log, err := c.chains.LogAt(ctx, c.process, at)
		if err != nil {
			return nil, err
		}
		for _, e := range log {
			switch {
			case e.IsWrite(), e.Decision != nil && e.Decision.Kind == approval.SteerDeputy && e.Decision.CallID != "":
				// the deputy was named for the whole process, and is listed there
			case e.Decision != nil:
				if id := e.Decision.CallID; !approval.IsRemark(e.Decision.Kind) {
					last[id] = len(made)
				} else {
					remarks[id] = append(remarks[id], *e.Decision)
					e.Decision.ShownParams = approval.ShownTo(remarks[id])
				}
				made = append(made, Decided{Decision: *e.Decision, Instance: e.Instance, Idea: at})
			case e.Outcome != nil:
				if n, known := last[e.Outcome.CallID]; known {
					made[n].Outcome = e.Outcome
				}
			}
		}
	}
	slices.SortStableFunc(made, func(a, b Decided) int { return a.DecidedAt.Compare(b.DecidedAt) })
	if len(made) > 0 {
		c.addWords(ctx, made, to)
	}
	return made, nil
}

// addWords adds to decisions the words of an Idea; nothing if the Idea cannot be read.
func (c *Chain) addWords(ctx context.Context, made []Decided, at int) {
	source, err := c.chains.Load(ctx, c.process, at)
	if err != nil {
		return
	}
	idea, _ := ideafile.ReadIdeaWithCheckedTools(source)
	if idea == nil {
		return
	}
	words, messages := shown.WordsOf(idea), ideafile.GroupMessagesByInstance(idea.Context)
	for n := range made {
		d := &made[n]
		if d.CallID == "" || d.Tool == "" {
			continue
		}
		own := ideafile.InstanceMessagesView(messages[d.Instance], d.Instance).PayloadByKind
		call := words.Call(d.Tool, d.ShownParams, d.Instance,
			shown.Case{Input: own[ideafile.TypeInput], State: own[ideafile.TypeState]}, LanguageOf(ctx))
		d.Sentence, d.InstanceName, d.Amount = call.Sentence, call.InstanceName, call.Amount()
	}
}

// About says what a decision was about: the sentence and the instance's name; empty if it was about no Call.
func (d Decided) About() string {
	if d.InstanceName == "" {
		return d.Sentence
	}
	return d.Sentence + " (" + d.InstanceName + ")"
}

// Diff is the difference of two Ideas, with people's decisions between them.
type Diff struct {
	*ideadiff.Diff
	Decisions []Decided `json:"decisions"`
}

// Diff compares two Ideas, by their numbers from 1: values and Calls that were added, changed and removed, people's
// decisions between the two, and a JSON Patch (RFC 6902) that leads from one to the other.
func (c *Chain) Diff(ctx context.Context, a, b int) (*Diff, error) {
	var ideas [2]map[string]any
	for n, at := range []int{a, b} {
		if at < 1 {
			return nil, kind.Errorf(ErrInvalid, "compare Ideas of %s: Ideas are numbered from 1, not %d", c.process, at)
		}
		var err error
		if ideas[n], err = c.load(ctx, "compare", at); err != nil {
			return nil, err
		}
	}
	return c.DiffOf(ctx, a, ideas[0], b, ideas[1])
}

// DiffOf is Diff for two Ideas that are already loaded.
func (c *Chain) DiffOf(ctx context.Context, a int, from map[string]any, b int, to map[string]any) (*Diff, error) {
	d, err := ideadiff.Compare(c.process, a, b, from, to)
	if err != nil {
		return nil, err
	}
	made, err := c.decisions(ctx, min(a, b)+1, max(a, b))
	return &Diff{d, made}, err
}
