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

// Run is a process: its Tools, and its log.
type Run struct {
	ProcessID string
	Tools     []*ideafile.Tool
	Log       []turn.LogEntry
}

// Counts are the numbers of Calls that people were asked about, by what people did.
type Counts struct {
	Approved int `json:"approved"`
	Amended  int `json:"amended"`
	Rejected int `json:"rejected"`
	Replaced int `json:"replaced"`
	Answered int `json:"answered"`
	// Unseen are the Calls that nobody looked at: a deadline or a standing order decided.
	Unseen int `json:"unseen"`
}

// Finding reports what people did with the Calls of one Tool.
type Finding struct {
	Tool   string `json:"tool"`
	Counts Counts `json:"counts"`
	// Facts says in words what was found of the amended Calls, the rejected ones and so on.
	Facts []string `json:"facts"`
	// When is a proposal for the `when` of `_approval`, and Text is When in words. If When is nil, nothing is proposed,
	// and Why says why.
	When     jsonval.Object `json:"when,omitempty"`
	WhenText string         `json:"text,omitempty"`
	Why      string         `json:"why,omitempty"`
	// WouldAskCount and Unasked count the past decisions of people for which When would have asked, and would not have
	// asked.
	WouldAskCount    int `json:"asked"`
	WouldNotAskCount int `json:"unasked"`
	// AskedInVain names the Calls that When would have asked about and that people approved unchanged.
	AskedInVain []string `json:"askedInVain,omitempty"`
}

// HumanDecisions is how many Calls people looked at.
func (c Counts) HumanDecisions() int {
	return c.Approved + c.Amended + c.Rejected + c.Replaced + c.Answered
}

// reviewedCall is a Call that people were asked about.
type reviewedCall struct {
	name   string
	kind   string // what people did; empty: nobody looked
	params jsonval.Object
}

// tool collects the Calls of one Tool.
type tool struct {
	name             string
	currentCondition jsonval.Object // the `when` of its present policy
	calls            []*reviewedCall
}

// Judge reports, for each Tool that needed people's decisions, how they decided. Findings are sorted by Tool.
func Judge(runs []Run) []Finding {
	tools := map[string]*tool{}
	for _, run := range runs {
		readRun(tools, run)
	}
	findings := []Finding{}
	for _, v := range jsonval.Sorted(tools) {
		findings = append(findings, v.judge())
	}
	return findings
}

// readRun collects what was decided in one process. If a Call had several decisions, the first that changed it counts,
// with the parameters that were shown then.
func readRun(tools map[string]*tool, run Run) {
	callByID := map[string]*reviewedCall{}
	for _, e := range run.Log {
		d := e.Decision
		if d == nil || d.CallID == "" || d.Tool == "" || !slices.Contains(policy.AllKinds(), d.Kind) {
			continue
		}
		if tools[d.Tool] == nil {
			tools[d.Tool] = &tool{name: d.Tool}
		}
		if t := ideafile.FindTool(run.Tools, d.Tool); t != nil && t.Approval != nil &&
			t.Approval.ParamsCondition != nil {
			tools[d.Tool].currentCondition = jsonval.AsObject(t.Approval.ParamsCondition.Source)
		}
		call := callByID[d.CallID]
		if call == nil {
			call = &reviewedCall{name: run.ProcessID + " " + d.CallID, params: d.ShownParams}
			callByID[d.CallID] = call
			tools[d.Tool].calls = append(tools[d.Tool].calls, call)
		}
		switch unseen := d.DecidedBy == approval.DecidedByTimeout || d.OrderID != ""; {
		case unseen:
		case call.kind == "" || call.kind == policy.Approve && d.Kind != policy.Approve:
			call.kind, call.params = d.Kind, d.ShownParams
		}
	}
}

func (t *tool) judge() Finding {
	f := Finding{Tool: t.name, Counts: t.counts(), Facts: []string{}}
	for _, kind := range policy.AllKinds() {
		if kind != policy.Approve {
			f.Facts = append(f.Facts, t.factsOf(kind)...)
		}
	}
	changedCount := f.Counts.HumanDecisions() - f.Counts.Approved
	switch {
	case changedCount == 0:
		f.Why = "people approved all unchanged: you decide whether to ask at all"
		return f
	case changedCount < condition.MinSide:
		f.Why = fmt.Sprintf("%d changed: too few to find out why; at least %d are needed", changedCount,
			condition.MinSide)
		return f
	case f.Counts.Approved < condition.MinSide:
		f.Why = fmt.Sprintf("%d approved unchanged: too few to ask less; at least %d are needed", f.Counts.Approved,
			condition.MinSide)
		return f
	}
	t.propose(&f)
	return f
}

func (t *tool) counts() (c Counts) {
	counters := map[string]*int{policy.Approve: &c.Approved, policy.Amend: &c.Amended, policy.Reject: &c.Rejected,
		policy.Replace: &c.Replaced,
		policy.Answer:  &c.Answered, "": &c.Unseen}
	for _, call := range t.calls {
		*counters[call.kind]++
	}
	return c
}

// search returns a Search over the Calls with certain kinds of decisions. Its class is the Calls that people changed.
func (t *tool) search(kinds ...string) condition.Search {
	var s condition.Search
	for _, call := range t.calls {
		if slices.Contains(kinds, call.kind) {
			s.Samples = append(s.Samples,
				condition.Sample{Name: call.name, View: call.params, InClass: call.kind != policy.Approve})
		}
	}
	return s
}

// factsOf says what all Calls of one kind have in common, and how many of the Calls that were approved unchanged have
// it too.
func (t *tool) factsOf(kind string) []string {
	s := t.search(kind, policy.Approve)
	n := 0
	for _, sample := range s.Samples {
		if sample.InClass {
			n++
		}
	}
	if n == 0 || n == len(s.Samples) {
		return nil
	}
	pastTense := approval.Decision{Kind: kind}.PastTense()
	switch c, others, _ := searchSeparation(s); {
	case c != nil && others == 0:
		return []string{fmt.Sprintf("all %d that were %s had %s, and no other", n, pastTense, c.Text)}
	case c != nil:
		return []string{fmt.Sprintf("all %d that were %s had %s, and so had %d others", n, pastTense, c.Text, others)}
	}
	return []string{fmt.Sprintf("nothing tells the %d that were %s from the others", n, pastTense)}
}

// searchSeparation finds what all samples of the class have in common, and counts the other samples that have it too.
// A single test that separates the samples fully comes first. Next comes a rough test that all members pass, unless
// more others than members pass it too, and last a combination of several exact tests.
func searchSeparation(s condition.Search) (c *condition.Condition, others int, doubt *condition.Doubt) {
	exact, _ := s.Find()
	if exact != nil && exact.Size == 1 {
		return exact, 0, nil
	}
	rough, outside, doubt := s.Cover()
	if rough != nil {
		others = rough.Total - rough.InClass - len(outside)
	}
	if exact != nil && (rough == nil || others > rough.InClass) {
		return exact, 0, nil
	}
	return rough, others, doubt
}

// propose finds the policy that would have asked about all Calls that people changed, and about as few others as
// possible.
func (t *tool) propose(f *Finding) {
	s := t.search(policy.AllKinds()...)
	found, _, doubt := searchSeparation(s)
	if found == nil {
		f.Why = "nothing tells which Calls people change, so they must be asked about all: " + doubt.Reason
		if doubt.Candidate != "" {
			f.Why = fmt.Sprintf("nothing tells which Calls people change, so they must be asked about all (%s: %s)",
				doubt.Candidate, doubt.Reason)
		}
		return
	}
	when := jsonval.Object{"not": found.UnlessRounded}
	if t.currentCondition != nil {
		when = jsonval.Object{"allOf": []any{t.currentCondition, when}}
	}
	proposed := policy.Approval{ParamsCondition: jsonschema.NewLazySchema(when, "")}
	var missedCalls []string
	for _, call := range t.calls {
		switch needsReview := proposed.RequiresReviewOf(call.params); {
		case call.kind == "":
		case needsReview && call.kind == policy.Approve:
			f.AskedInVain = append(f.AskedInVain, call.name)
			f.WouldAskCount++
		case needsReview:
			f.WouldAskCount++
		case call.kind != policy.Approve:
			missedCalls = append(missedCalls, call.name)
		default:
			f.WouldNotAskCount++
		}
	}
	if len(missedCalls) > 0 || f.WouldNotAskCount == 0 {
		*f = Finding{Tool: f.Tool, Counts: f.Counts, Facts: f.Facts,
			Why: "no policy asks less and about all that people changed: " + strings.Join(missedCalls, ", ")}
		return
	}
	f.When, f.WhenText = when, "ask unless it is known that people approve: they changed those where "+found.Text
}
