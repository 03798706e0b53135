package backtest

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// The verdicts on an instance.
const (
	VerdictSame      = "same"
	VerdictDifferent = "different"
	VerdictUnknown   = "unknown" // no difference is known, but something is unknown
)

// Report is what backtest --json prints.
type Report struct {
	Processes []string `json:"processes"`
	// SameCount, Different and Unknown count instances.
	SameCount      int              `json:"same"`
	DifferentCount int              `json:"different"`
	UnknownCount   int              `json:"unknown"`
	Instances      []InstanceReport `json:"instances"`
	// Summary lists every kind of difference once, with the instances that have it.
	Summary []DiffGroup `json:"summary"`
	// Approvals counts the Calls about which a person was asked then, and would be asked now.
	Approvals ApprovalCounts `json:"asked"`
	// Outputs are the processes whose output would differ.
	Outputs []Difference      `json:"outputs"`
	Skipped []SkippedInstance `json:"leftOut"`
	// InstructionStepCounts say in how many instances the steps of the new Idea's instructions would be fulfilled.
	InstructionStepCounts ideafile.StepCounts `json:"instructions,omitempty"`
	// CallCount counts the recorded Calls that ran, Unmatched the Calls of the new runs whose results are unknown.
	CallCount          int `json:"calls"`
	UnmatchedCallCount int `json:"callsWithoutResult"`
	// RequestCount counts the Requests that the new Idea makes.
	RequestCount int `json:"requests"`
}

// ApprovalCounts counts approvals.
type ApprovalCounts struct {
	Recorded int `json:"then"`
	Replayed int `json:"now"`
	// Automatic counts the decisions that nobody took then, where the backtest approved the Call.
	Automatic int `json:"approvedHere"`
}

// InstanceReport is what would differ in one instance.
type InstanceReport struct {
	ProcessID string `json:"process"`
	Instance  string `json:"instance"`
	Verdict   string `json:"verdict"`
	// Differences are in the order of the graph: the first is the first one in the Plan.
	Differences    []Difference `json:"differences"`
	UnknownReasons []string     `json:"unknown"`
}

// DiffGroup is a kind of difference, and the instances that have it.
type DiffGroup struct {
	Kind      string   `json:"kind"`
	Topic     string   `json:"about"`
	Instances []string `json:"instances"`
}

// Name names an instance uniquely among several processes.
func (i InstanceReport) Name(hasManyProcesses bool) string {
	switch {
	case i.Instance == "":
		return i.ProcessID
	case hasManyProcesses:
		return i.ProcessID + "/" + i.Instance
	}
	return i.Instance
}

// DifferingCount counts the instances that are not known to be the same.
func (r *Report) DifferingCount() int { return r.DifferentCount + r.UnknownCount }

// Compare runs a new Idea over the instances of past processes and reports what would differ. bind says what runs a
// Tool. planner answers Requests; if it is nil, every instance gets the Calls that the LLM planned for it then. The
// error is for an Idea that does not fit the instances, or for a Planner that cannot go on.
func Compare(idea *ideafile.Idea, bind func(*ideafile.Idea) ideafile.ToolBindings, planner Planner,
	processes ...*FinishedProcess) (*Report, error) {
	r := &Report{Processes: []string{}, Instances: []InstanceReport{}, Summary: []DiffGroup{}, Outputs: []Difference{},
		Skipped: []SkippedInstance{}}
	for _, p := range processes {
		r.Processes = append(r.Processes, p.processID)
		r.Skipped = append(r.Skipped, p.skipped...)
		for _, c := range p.chains {
			if len(c.instances) == 0 {
				continue
			}
			if err := r.addChain(idea, bind, planner, c); err != nil {
				return nil, err
			}
		}
	}
	r.summarize()
	return r, nil
}

func (r *Report) addChain(idea *ideafile.Idea, bind func(*ideafile.Idea) ideafile.ToolBindings,
	planner Planner, c *chain) error {
	withData, err := newIdeaWithPastData(idea, c)
	if err != nil {
		return err
	}
	traces, loop, err := runNewIdea(withData, bind(withData), planner, c)
	if err != nil {
		return err
	}
	r.RequestCount += loop.TurnCount
	r.InstructionStepCounts = r.InstructionStepCounts.Merge(loop.StepCounts())
	areAllSame := true
	for _, i := range c.instances {
		replayed := traces[i.token]
		differences, unknown := compareTraces(i.trace, replayed)
		report := InstanceReport{ProcessID: i.processID, Instance: i.token, Verdict: VerdictSame,
			Differences:    append([]Difference{}, differences...),
			UnknownReasons: append([]string{}, unknown...)}
		switch {
		case len(differences) > 0:
			report.Verdict = VerdictDifferent
			r.DifferentCount++
		case len(unknown) > 0 || replayed.status == "":
			report.Verdict = VerdictUnknown
			r.UnknownCount++
		default:
			r.SameCount++
		}
		areAllSame = areAllSame && report.Verdict == VerdictSame
		r.Instances = append(r.Instances, report)
		r.countTraces(i.trace, replayed)
	}
	r.compareOutput(c, loop.Output, areAllSame)
	return nil
}

// countTraces adds up the Calls of two traces: those that ran, those about which people are asked, and the unknown
// ones.
func (r *Report) countTraces(recorded, replayed *trace) {
	for _, c := range recorded.calls {
		if c.wasExecuted {
			r.CallCount++
		}
		if c.isReviewed {
			r.Approvals.Recorded++
		}
	}
	for _, c := range replayed.calls {
		if c.isReviewed {
			r.Approvals.Replayed++
		}
		if c.isResultUnknown {
			r.UnmatchedCallCount++
		}
		r.Approvals.Automatic += c.autoApprovalCount
	}
}

// compareOutput compares the outputs of a process whose instances are all the same. It skips a recorded output that
// refers to State, which is not a value yet.
func (r *Report) compareOutput(c *chain, output any, areAllSame bool) {
	refs, err := refexpr.FindReferences(c.output)
	if !areAllSame || c.output == nil || err != nil || len(refs) > 0 || jsonval.Equal(c.output, output) {
		return
	}
	r.Outputs = append(r.Outputs, Difference{Kind: OutputChanged, Topic: "another output",
		Text: fmt.Sprintf("%s would give the output %s, and gave %s", c.ProcessID, briefJSON(output),
			briefJSON(c.output))})
}

// summarize groups the differences by kind.
func (r *Report) summarize() {
	indexByKey := map[string]int{}
	add := func(kind, topic, name string) {
		n, ok := indexByKey[kind+topic]
		if !ok {
			n = len(r.Summary)
			indexByKey[kind+topic] = n
			r.Summary = append(r.Summary, DiffGroup{Kind: kind, Topic: topic})
		}
		if list := r.Summary[n].Instances; len(list) == 0 || list[len(list)-1] != name {
			r.Summary[n].Instances = append(list, name)
		}
	}
	for _, i := range r.Instances {
		name := i.Name(len(r.Processes) > 1)
		for _, d := range i.Differences {
			add(d.Kind, d.Topic, name)
		}
		if i.Verdict == VerdictUnknown {
			add(VerdictUnknown, "not known", name)
		}
	}
}

// String describes a group in one line.
func (g DiffGroup) String() string {
	return fmt.Sprintf("%s: %s (in %s)", g.Kind, g.Topic, diag.SummarizeNames(g.Instances))
}
