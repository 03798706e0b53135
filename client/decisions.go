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

// RecordedDecision is a decision on a Call or on the process: approve, reject, amend, replace or answer; pause, resume,
// revise or add. Its fields are Instance, IdeaNumber, Outcome and the fields of approval.Decision.
type RecordedDecision struct {
	approval.Decision
	Instance string `json:"instance"`
	// Sentence says what the decided Call does, and InstanceName is the name of its instance.
	Sentence     string `json:"sentence,omitempty"`
	InstanceName string `json:"instanceName,omitempty"`
	// Amount is the first amount of money in the Call; nil: it has none. ProcessTitle is what people call its process.
	Amount       *shown.Field `json:"-"`
	ProcessTitle string       `json:"-"`
	// IdeaNumber is the number of the Idea whose log has the decision.
	IdeaNumber int `json:"idea"`
	// Outcome is the final outcome of the Call, with the last decision on it; nil until it is known.
	Outcome *turn.CallOutcome `json:"outcome,omitempty"`

	call            shown.Call     // the decided Call; zero: the decision is on none, or its Idea cannot be read
	policyCondition map[string]any // the condition of its Tool's policy, if it is known
}

// Decisions lists people's decisions up to an Idea (0: the latest), in the order of time, with their outcomes. It reads
// the chain: decisions since the latest Idea are in the next one.
func (c *Chain) Decisions(ctx context.Context, ideaNumber int) ([]RecordedDecision, error) {
	ideaNumber, err := c.checkIdeaNumber(ctx, "list decisions up to", ideaNumber)
	if err != nil {
		return nil, err
	}
	return c.decisions(ctx, 1, ideaNumber)
}

// decisions lists the decisions in the logs of the Ideas from one number to another.
func (c *Chain) decisions(ctx context.Context, fromIdeaNumber, toIdeaNumber int) ([]RecordedDecision, error) {
	recordedDecisions, indexByCall, remarksByCall := []RecordedDecision{}, map[string]int{},
		map[string][]approval.Decision{}
	for ideaNumber := fromIdeaNumber; ideaNumber <= toIdeaNumber; ideaNumber++ {
		log, err := c.chainStore.LogAt(ctx, c.processID, ideaNumber)
		if err != nil {
			return nil, err
		}
		for _, e := range log {
			switch {
			case e.IsWrite(), e.Decision != nil && e.Decision.Kind == approval.SteerDeputy && e.Decision.CallID != "":
				// the deputy was named for the whole process, and is listed there
			case e.Decision != nil:
				if id := e.Decision.CallID; !approval.IsRemark(e.Decision.Kind) {
					indexByCall[id] = len(recordedDecisions)
				} else {
					remarksByCall[id] = append(remarksByCall[id], *e.Decision)
					e.Decision.ShownParams = approval.LastShownParams(remarksByCall[id])
				}
				recordedDecisions = append(recordedDecisions,
					RecordedDecision{Decision: *e.Decision, Instance: e.InstanceToken, IdeaNumber: ideaNumber})
			case e.Outcome != nil:
				if n, known := indexByCall[e.Outcome.CallID]; known {
					recordedDecisions[n].Outcome = e.Outcome
				}
			}
		}
	}
	slices.SortStableFunc(recordedDecisions,
		func(a, b RecordedDecision) int { return a.DecidedAt.Compare(b.DecidedAt) })
	if len(recordedDecisions) > 0 {
		c.addDecisionSentences(ctx, recordedDecisions, toIdeaNumber)
	}
	return recordedDecisions, nil
}

// addDecisionSentences adds to decisions the words of an Idea; nothing if the Idea cannot be read.
func (c *Chain) addDecisionSentences(ctx context.Context, decisions []RecordedDecision, ideaNumber int) {
	source, err := c.chainStore.Load(ctx, c.processID, ideaNumber)
	if err != nil {
		return
	}
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(source)
	if idea == nil {
		return
	}
	presenter, messages := shown.NewPresenter(idea), ideafile.GroupMessagesByInstance(idea.Context)
	for n := range decisions {
		d := &decisions[n]
		if d.CallID == "" || d.Tool == "" {
			continue
		}
		payloadByKind := ideafile.OwnInstanceView(messages[d.Instance], d.Instance).PayloadByKind
		call := presenter.Call(d.Tool, d.ShownParams, d.Instance,
			shown.InstanceValues{Input: payloadByKind[ideafile.TypeInput], State: payloadByKind[ideafile.TypeState]},
			LanguageOf(ctx))
		d.call = call
		d.Sentence, d.InstanceName, d.Amount = call.Sentence, call.InstanceName, call.Amount()
		d.ProcessTitle = call.ProcessTitle
	}
}

// About says what a decision was about: the sentence and the instance's name; empty if it was about no Call.
func (d RecordedDecision) About() string {
	if d.InstanceName == "" {
		return d.Sentence
	}
	return d.Sentence + " (" + d.InstanceName + ")"
}

// Diff is the difference of two Ideas, with people's decisions between them.
type Diff struct {
	*ideadiff.Diff
	Decisions []RecordedDecision `json:"decisions"`
}

// Diff compares two Ideas, by their numbers from 1: values and Calls that were added, changed and removed, people's
// decisions between the two, and a JSON Patch (RFC 6902) that leads from one to the other.
func (c *Chain) Diff(ctx context.Context, fromIdeaNumber, toIdeaNumber int) (*Diff, error) {
	var ideas [2]map[string]any
	for n, ideaNumber := range []int{fromIdeaNumber, toIdeaNumber} {
		if ideaNumber < 1 {
			return nil, kind.Errorf(ErrInvalid, "compare Ideas of %s: Ideas are numbered from 1, not %d", c.processID,
				ideaNumber)
		}
		var err error
		if ideas[n], err = c.load(ctx, "compare", ideaNumber); err != nil {
			return nil, err
		}
	}
	return c.DiffOf(ctx, fromIdeaNumber, ideas[0], toIdeaNumber, ideas[1])
}

// DiffOf is Diff for two Ideas that are already loaded.
func (c *Chain) DiffOf(ctx context.Context, fromIdeaNumber int, fromIdea map[string]any, toIdeaNumber int,
	toIdea map[string]any) (*Diff, error) {
	d, err := ideadiff.Compare(c.processID, fromIdeaNumber, toIdeaNumber, fromIdea, toIdea)
	if err != nil {
		return nil, err
	}
	decisions, err := c.decisions(ctx, min(fromIdeaNumber, toIdeaNumber)+1, max(fromIdeaNumber, toIdeaNumber))
	return &Diff{d, decisions}, err
}
