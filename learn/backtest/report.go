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
	// Same, Different and Unknown count instances.
	Same      int              `json:"same"`
	Different int              `json:"different"`
	Unknown   int              `json:"unknown"`
	Instances []InstanceReport `json:"instances"`
	// Summary lists every kind of difference once, with the instances that have it.
	Summary []DiffGroup `json:"summary"`
	// Approvals counts the Calls about which a person was asked then, and would be asked now.
	Approvals ApprovalCounts `json:"asked"`
	// Outputs are the processes whose output would differ.
	Outputs []Difference      `json:"outputs"`
	Skipped []SkippedInstance `json:"leftOut"`
	// Instructions say in how many instances the steps of the new Idea's instructions would be fulfilled.
	Instructions ideafile.StepCounts `json:"instructions,omitempty"`
	// Calls counts the recorded Calls that ran, Unmatched the Calls of the new runs whose results are unknown.
	Calls     int `json:"calls"`
	Unmatched int `json:"callsWithoutResult"`
	// Requests counts the Requests that the new Idea makes.
	Requests int `json:"requests"`
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
	Process  string `json:"process"`
	Instance string `json:"instance"`
	Verdict  string `json:"verdict"`
	// Differences are in the order of the graph: the first is the first one in the Plan.
	Differences []Difference `json:"differences"`
	Unknown     []string     `json:"unknown"`
}

// DiffGroup is a kind of difference, and the instances that have it.
type DiffGroup struct {
	Kind      string   `json:"kind"`
	Topic     string   `json:"about"`
	Instances []string `json:"instances"`
}

// Name names an instance uniquely among several processes.
func (i InstanceReport) Name(manyProcesses bool) string {
	switch {
	case i.Instance == "":
		return i.Process
	case manyProcesses:
		return i.Process + "/" + i.Instance
	}
	return i.Instance
}

// DifferingCount counts the instances that are not known to be the same.
func (r *Report) DifferingCount() int { return r.Different + r.Unknown }

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
	withData, err := newIdea(idea, c)
	if err != nil {
		return err
	}
	traces, loop, err := runNewIdea(withData, bind(withData), planner, c)
	if err != nil {
		return err
	}
	r.Requests += loop.TurnCount
	r.Instructions = r.Instructions.Merge(loop.StepCounts())
	allSame := true
	for _, i := range c.instances {
		cur := traces[i.token]
		differences, unknown := compareTraces(i.trace, cur)
		report := InstanceReport{Process: i.processID, Instance: i.token, Verdict: VerdictSame,
			Differences: append([]Difference{}, differences...),
			Unknown:     append([]string{}, unknown...)}
		switch {
		case len(differences) > 0:
			report.Verdict = VerdictDifferent
			r.Different++
		case len(unknown) > 0 || cur.status == "":
			report.Verdict = VerdictUnknown
			r.Unknown++
		default:
			r.Same++
		}
		allSame = allSame && report.Verdict == VerdictSame
		r.Instances = append(r.Instances, report)
		r.countTraces(i.trace, cur)
	}
	r.compareOutput(c, loop.Output, allSame)
	return nil
}

// countTraces adds up the Calls of two traces: those that ran, those about which people are asked, and the unknown
// ones.
func (r *Report) countTraces(old, cur *trace) {
	for _, c := range old.calls {
		if c.wasExecuted {
			r.Calls++
		}
		if c.reviewed {
			r.Approvals.Recorded++
		}
	}
	for _, c := range cur.calls {
		if c.reviewed {
			r.Approvals.Replayed++
		}
		if c.resultUnknown {
			r.Unmatched++
		}
		r.Approvals.Automatic += c.autoApprovals
	}
}

// compareOutput compares the outputs of a process whose instances are all the same. It skips a recorded output that
// refers to State, which is not a value yet.
func (r *Report) compareOutput(c *chain, output any, allSame bool) {
	refs, err := refexpr.FindReferences(c.output)
	if !allSame || c.output == nil || err != nil || len(refs) > 0 || jsonval.Equal(c.output, output) {
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
