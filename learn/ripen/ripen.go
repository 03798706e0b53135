package ripen

import (
	"fmt"
	"slices"
	"strings"

	"processidea/learn/condition"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// ProcessRun is a process: its Tools, and its log.
type ProcessRun struct {
	ProcessID string
	Tools     []*ideafile.Tool
	Log       []turn.LogEntry
}

// DecisionCounts are the numbers of Calls that people were asked about, by what people did.
type DecisionCounts struct {
	Approved int `json:"approved"`
	Amended  int `json:"amended"`
	Rejected int `json:"rejected"`
	Replaced int `json:"replaced"`
	Answered int `json:"answered"`
	// UnseenCount are the Calls that nobody looked at: a deadline or a standing order decided.
	UnseenCount int `json:"unseen"`
}

// Finding reports what people did with the Calls of one Tool.
type Finding struct {
	Tool   string         `json:"tool"`
	Counts DecisionCounts `json:"counts"`
	// Facts says in words what was found of the amended Calls, the rejected ones and so on.
	Facts []string `json:"facts"`
	// ProposedCondition is a proposal for the `when` of `_approval`, and ConditionText is the same in words. If
	// ProposedCondition is nil, nothing is proposed, and NoProposalReason says why.
	ProposedCondition jsonval.Object `json:"when,omitempty"`
	ConditionText     string         `json:"text,omitempty"`
	NoProposalReason  string         `json:"why,omitempty"`
	// WouldAskCount and WouldNotAskCount count the past decisions of people for which ProposedCondition would have
	// asked, and would not have asked.
	WouldAskCount    int `json:"asked"`
	WouldNotAskCount int `json:"unasked"`
	// NeedlesslyAskedCalls names the Calls that ProposedCondition would have asked about and that people approved
	// unchanged.
	NeedlesslyAskedCalls []string `json:"askedInVain,omitempty"`
}

// HumanDecisionCount is how many Calls people looked at.
func (c DecisionCounts) HumanDecisionCount() int {
	return c.Approved + c.Amended + c.Rejected + c.Replaced + c.Answered
}

// decidedCall is a Call that people were asked about.
type decidedCall struct {
	qualifiedCallID    string
	personDecisionKind string // what people did; empty: nobody looked
	params             jsonval.Object
}

// toolDecisions collects the Calls of one Tool.
type toolDecisions struct {
	toolName         string
	currentCondition jsonval.Object // the `when` of its present policy
	calls            []*decidedCall
}

// AnalyzeRuns reports, for each Tool that needed people's decisions, how they decided. Findings are sorted by Tool.
func AnalyzeRuns(runs []ProcessRun) []Finding {
	decisionsByTool := map[string]*toolDecisions{}
	for _, run := range runs {
		collectDecisions(decisionsByTool, run)
	}
	findings := []Finding{}
	for _, v := range jsonval.Sorted(decisionsByTool) {
		findings = append(findings, v.analyze())
	}
	return findings
}

// collectDecisions collects what was decided in one process. If a Call had several decisions, the first that changed it
// counts, with the parameters that were shown then.
func collectDecisions(decisionsByTool map[string]*toolDecisions, run ProcessRun) {
	callByID := map[string]*decidedCall{}
	for _, e := range run.Log {
		d := e.Decision
		if d == nil || d.CallID == "" || d.Tool == "" || !slices.Contains(policy.DecisionKinds(), d.Kind) {
			continue
		}
		if decisionsByTool[d.Tool] == nil {
			decisionsByTool[d.Tool] = &toolDecisions{toolName: d.Tool}
		}
		if t := ideafile.FindTool(run.Tools, d.Tool); t != nil && t.Approval != nil &&
			t.Approval.ParamsCondition != nil {
			decisionsByTool[d.Tool].currentCondition = jsonval.AsObject(t.Approval.ParamsCondition.Source)
		}
		call := callByID[d.CallID]
		if call == nil {
			call = &decidedCall{qualifiedCallID: run.ProcessID + " " + d.CallID, params: d.ShownParams}
			callByID[d.CallID] = call
			decisionsByTool[d.Tool].calls = append(decisionsByTool[d.Tool].calls, call)
		}
		switch isUnseen := d.DecidedBy == approval.DecidedByTimeout || d.StandingOrderID != ""; {
		case isUnseen:
		case call.personDecisionKind == "" || call.personDecisionKind == policy.Approve && d.Kind != policy.Approve:
			call.personDecisionKind, call.params = d.Kind, d.ShownParams
		}
	}
}

func (t *toolDecisions) analyze() Finding {
	f := Finding{Tool: t.toolName, Counts: t.counts(), Facts: []string{}}
	for _, kind := range policy.DecisionKinds() {
		if kind != policy.Approve {
			f.Facts = append(f.Facts, t.describeFacts(kind)...)
		}
	}
	changedCallCount := f.Counts.HumanDecisionCount() - f.Counts.Approved
	switch {
	case changedCallCount == 0:
		f.NoProposalReason = "people approved all unchanged: you decide whether to ask at all"
		return f
	case changedCallCount < condition.MinSamplesPerSide:
		f.NoProposalReason = fmt.Sprintf("%d changed: too few to find out why; at least %d are needed",
			changedCallCount,
			condition.MinSamplesPerSide)
		return f
	case f.Counts.Approved < condition.MinSamplesPerSide:
		f.NoProposalReason = fmt.Sprintf("%d approved unchanged: too few to ask less; at least %d are needed",
			f.Counts.Approved,
			condition.MinSamplesPerSide)
		return f
	}
	t.proposePolicy(&f)
	return f
}

func (t *toolDecisions) counts() (c DecisionCounts) {
	counterByKind := map[string]*int{policy.Approve: &c.Approved, policy.Amend: &c.Amended, policy.Reject: &c.Rejected,
		policy.Replace: &c.Replaced,
		policy.Answer:  &c.Answered, "": &c.UnseenCount}
	for _, call := range t.calls {
		*counterByKind[call.personDecisionKind]++
	}
	return c
}

// newSearch returns a Search over the Calls with certain kinds of decisions. Its class is the Calls that people
// changed.
func (t *toolDecisions) newSearch(decisionKinds ...string) condition.Search {
	var s condition.Search
	for _, call := range t.calls {
		if slices.Contains(decisionKinds, call.personDecisionKind) {
			s.Samples = append(s.Samples,
				condition.Sample{Name: call.qualifiedCallID, View: call.params,
					IsInClass: call.personDecisionKind != policy.Approve})
		}
	}
	return s
}

// describeFacts says what all Calls of one kind have in common, and how many of the Calls that were approved unchanged
// have it too.
func (t *toolDecisions) describeFacts(decisionKind string) []string {
	s := t.newSearch(decisionKind, policy.Approve)
	changedCallCount := 0
	for _, sample := range s.Samples {
		if sample.IsInClass {
			changedCallCount++
		}
	}
	if changedCallCount == 0 || changedCallCount == len(s.Samples) {
		return nil
	}
	pastTense := approval.Decision{Kind: decisionKind}.PastTense()
	switch c, otherCount, _ := searchSeparation(s); {
	case c != nil && otherCount == 0:
		return []string{fmt.Sprintf("all %d that were %s had %s, and no other", changedCallCount, pastTense, c.Text)}
	case c != nil:
		return []string{fmt.Sprintf("all %d that were %s had %s, and so had %d others", changedCallCount, pastTense,
			c.Text,
			otherCount)}
	}
	return []string{fmt.Sprintf("nothing tells the %d that were %s from the others", changedCallCount, pastTense)}
}

// searchSeparation finds what all samples of the class have in common, and counts the other samples that have it too.
// A single test that separates the samples fully comes first. Next comes a rough test that all members pass, unless
// more others than members pass it too, and last a combination of several exact tests.
func searchSeparation(s condition.Search) (c *condition.Condition, otherCount int, doubt *condition.Doubt) {
	exactCondition, _ := s.Find()
	if exactCondition != nil && exactCondition.SizeInTests == 1 {
		return exactCondition, 0, nil
	}
	roughCondition, excludedIndexes, doubt := s.Cover()
	if roughCondition != nil {
		otherCount = roughCondition.SampleCount - roughCondition.InClassCount - len(excludedIndexes)
	}
	if exactCondition != nil && (roughCondition == nil || otherCount > roughCondition.InClassCount) {
		return exactCondition, 0, nil
	}
	return roughCondition, otherCount, doubt
}

// proposePolicy finds the policy that would have asked about all Calls that people changed, and about as few others as
// possible.
func (t *toolDecisions) proposePolicy(f *Finding) {
	s := t.newSearch(policy.DecisionKinds()...)
	separation, _, doubt := searchSeparation(s)
	if separation == nil {
		f.NoProposalReason = "nothing tells which Calls people change, so they must be asked about all: " + doubt.Reason
		if doubt.CandidateText != "" {
			f.NoProposalReason = fmt.Sprintf(
				"nothing tells which Calls people change, so they must be asked about all (%s: %s)",
				doubt.CandidateText, doubt.Reason)
		}
		return
	}
	proposedCondition := jsonval.Object{"not": separation.UnlessRounded}
	if t.currentCondition != nil {
		proposedCondition = jsonval.Object{"allOf": []any{t.currentCondition, proposedCondition}}
	}
	proposedPolicy := policy.Approval{ParamsCondition: jsonschema.NewLazySchema(proposedCondition, "")}
	var unaskedChangedCalls []string
	for _, call := range t.calls {
		switch needsReview := proposedPolicy.RequiresReviewOf(call.params); {
		case call.personDecisionKind == "":
		case needsReview && call.personDecisionKind == policy.Approve:
			f.NeedlesslyAskedCalls = append(f.NeedlesslyAskedCalls, call.qualifiedCallID)
			f.WouldAskCount++
		case needsReview:
			f.WouldAskCount++
		case call.personDecisionKind != policy.Approve:
			unaskedChangedCalls = append(unaskedChangedCalls, call.qualifiedCallID)
		default:
			f.WouldNotAskCount++
		}
	}
	if len(unaskedChangedCalls) > 0 || f.WouldNotAskCount == 0 {
		*f = Finding{Tool: f.Tool, Counts: f.Counts, Facts: f.Facts,
			NoProposalReason: "no policy asks less and about all that people changed: " +
				strings.Join(unaskedChangedCalls, ", ")}
		return
	}
	f.ProposedCondition, f.ConditionText = proposedCondition,
		"ask unless it is known that people approve: they changed those where "+separation.Text
}
