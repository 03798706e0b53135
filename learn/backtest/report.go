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
	ProcessIDs []string `json:"processes"`
	// SameCount, DifferentCount and UnknownCount count instances.
	SameCount      int              `json:"same"`
	DifferentCount int              `json:"different"`
	UnknownCount   int              `json:"unknown"`
	Instances      []InstanceReport `json:"instances"`
	// DifferenceGroups lists every kind of difference once, with the instances that have it.
	DifferenceGroups []DiffGroup `json:"summary"`
	// Approvals counts the Calls about which a person was asked then, and would be asked now.
	Approvals ApprovalCounts `json:"asked"`
	// OutputDifferences are the processes whose output would differ.
	OutputDifferences []Difference      `json:"outputs"`
	SkippedInstances  []SkippedInstance `json:"leftOut"`
	// InstructionStepCounts say in how many instances the steps of the new Idea's instructions would be fulfilled.
	InstructionStepCounts ideafile.StepCounts `json:"instructions,omitempty"`
	// ExecutedCallCount counts the recorded Calls that ran, UnknownResultCallCount the Calls of the new runs whose
	// results are unknown.
	ExecutedCallCount      int `json:"calls"`
	UnknownResultCallCount int `json:"callsWithoutResult"`
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
	Kind       string   `json:"kind"`
	CommonText string   `json:"about"`
	Instances  []string `json:"instances"`
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
	r := &Report{ProcessIDs: []string{}, Instances: []InstanceReport{}, DifferenceGroups: []DiffGroup{},
		OutputDifferences: []Difference{},
		SkippedInstances:  []SkippedInstance{}}
	for _, p := range processes {
		r.ProcessIDs = append(r.ProcessIDs, p.processID)
		r.SkippedInstances = append(r.SkippedInstances, p.skippedInstances...)
		for _, c := range p.chains {
			if len(c.instances) == 0 {
				continue
			}
			if err := r.addChainComparison(idea, bind, planner, c); err != nil {
				return nil, err
			}
		}
	}
	r.groupDifferences()
	return r, nil
}

func (r *Report) addChainComparison(idea *ideafile.Idea, bind func(*ideafile.Idea) ideafile.ToolBindings,
	planner Planner, c *chain) error {
	ideaWithData, err := newIdeaWithPastData(idea, c)
	if err != nil {
		return err
	}
	traces, loop, err := runNewIdea(ideaWithData, bind(ideaWithData), planner, c)
	if err != nil {
		return err
	}
	r.RequestCount += loop.TurnCount
	r.InstructionStepCounts = r.InstructionStepCounts.Merge(loop.InstructionStepCounts())
	areAllSame := true
	for _, i := range c.instances {
		replayedTrace := traces[i.token]
		differences, unknownReasons := compareTraces(i.trace, replayedTrace)
		report := InstanceReport{ProcessID: i.processID, Instance: i.token, Verdict: VerdictSame,
			Differences:    append([]Difference{}, differences...),
			UnknownReasons: append([]string{}, unknownReasons...)}
		switch {
		case len(differences) > 0:
			report.Verdict = VerdictDifferent
			r.DifferentCount++
		case len(unknownReasons) > 0 || replayedTrace.status == "":
			report.Verdict = VerdictUnknown
			r.UnknownCount++
		default:
			r.SameCount++
		}
		areAllSame = areAllSame && report.Verdict == VerdictSame
		r.Instances = append(r.Instances, report)
		r.countCalls(i.trace, replayedTrace)
	}
	r.compareOutput(c, loop.Output, areAllSame)
	return nil
}

// countCalls adds up the Calls of two traces: those that ran, those about which people are asked, and the unknown
// ones.
func (r *Report) countCalls(recorded, replayed *runTrace) {
	for _, c := range recorded.calls {
		if c.wasExecuted {
			r.ExecutedCallCount++
		}
		if c.isPersonAsked {
			r.Approvals.Recorded++
		}
	}
	for _, c := range replayed.calls {
		if c.isPersonAsked {
			r.Approvals.Replayed++
		}
		if c.isResultUnknown {
			r.UnknownResultCallCount++
		}
		r.Approvals.Automatic += c.autoApprovalCount
	}
}

// compareOutput compares the outputs of a process whose instances are all the same. It skips a recorded output that
// refers to State, which is not a value yet.
func (r *Report) compareOutput(c *chain, output any, areAllSame bool) {
	refs, err := refexpr.FindReferences(c.lastOutput)
	if !areAllSame || c.lastOutput == nil || err != nil || len(refs) > 0 || jsonval.Equal(c.lastOutput, output) {
		return
	}
	r.OutputDifferences = append(r.OutputDifferences, Difference{Kind: OutputChanged, CommonText: "another output",
		Text: fmt.Sprintf("%s would give the output %s, and gave %s", c.ProcessID, briefJSON(output),
			briefJSON(c.lastOutput))})
}

// groupDifferences groups the differences by kind.
func (r *Report) groupDifferences() {
	indexByKey := map[string]int{}
	addToGroup := func(kind, commonText, instanceName string) {
		n, ok := indexByKey[kind+commonText]
		if !ok {
			n = len(r.DifferenceGroups)
			indexByKey[kind+commonText] = n
			r.DifferenceGroups = append(r.DifferenceGroups, DiffGroup{Kind: kind, CommonText: commonText})
		}
		if list := r.DifferenceGroups[n].Instances; len(list) == 0 || list[len(list)-1] != instanceName {
			r.DifferenceGroups[n].Instances = append(list, instanceName)
		}
	}
	for _, i := range r.Instances {
		instanceName := i.Name(len(r.ProcessIDs) > 1)
		for _, d := range i.Differences {
			addToGroup(d.Kind, d.CommonText, instanceName)
		}
		if i.Verdict == VerdictUnknown {
			addToGroup(VerdictUnknown, "not known", instanceName)
		}
	}
}

// String describes a group in one line.
func (g DiffGroup) String() string {
	return fmt.Sprintf("%s: %s (in %s)", g.Kind, g.CommonText, diag.SummarizeNames(g.Instances))
}
