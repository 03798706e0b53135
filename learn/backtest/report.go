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
	Same      = "same"
	Different = "different"
	Unknown   = "unknown" // no difference is known, but something is unknown
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
	Summary []Group `json:"summary"`
	// Approvals counts the Calls about which a person was asked then, and would be asked now.
	Approvals ApprovalCounts `json:"asked"`
	// Outputs are the processes whose output would differ.
	Outputs []Difference      `json:"outputs"`
	LeftOut []SkippedInstance `json:"leftOut"`
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
	Then int `json:"then"`
	Now  int `json:"now"`
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

// Group is a kind of difference, and the instances that have it.
type Group struct {
	Kind      string   `json:"kind"`
	About     string   `json:"about"`
	Instances []string `json:"instances"`
}

// Name names an instance uniquely among several processes.
func (i InstanceReport) Name(several bool) string {
	switch {
	case i.Instance == "":
		return i.Process
	case several:
		return i.Process + "/" + i.Instance
	}
	return i.Instance
}

// Differs counts the instances that are not known to be the same.
func (r *Report) Differs() int { return r.Different + r.Unknown }

// Compare runs a new Idea over the instances of past processes and reports what would differ. bind says what runs a
// Tool. planner answers Requests; if it is nil, every instance gets the Calls that the LLM planned for it then. The
// error is for an Idea that does not fit the instances, or for a Planner that cannot go on.
func Compare(idea *ideafile.Idea, bind func(*ideafile.Idea) ideafile.ToolBindings, planner Planner,
	past ...*FinishedProcess) (*Report, error) {
	r := &Report{Processes: []string{}, Instances: []InstanceReport{}, Summary: []Group{}, Outputs: []Difference{},
		LeftOut: []SkippedInstance{}}
	for _, p := range past {
		r.Processes = append(r.Processes, p.processID)
		r.LeftOut = append(r.LeftOut, p.leftOut...)
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
	whole, err := newIdea(idea, c)
	if err != nil {
		return err
	}
	traces, loop, err := runNew(whole, bind(whole), planner, c)
	if err != nil {
		return err
	}
	r.Requests += loop.TurnCount
	r.Instructions = r.Instructions.Merge(loop.StepCounts())
	complete := true
	for _, i := range c.instances {
		now := traces[i.token]
		differences, unknown := compareTraces(i.trace, now)
		one := InstanceReport{Process: i.processID, Instance: i.token, Verdict: Same,
			Differences: append([]Difference{}, differences...),
			Unknown:     append([]string{}, unknown...)}
		switch {
		case len(differences) > 0:
			one.Verdict = Different
			r.Different++
		case len(unknown) > 0 || now.status == "":
			one.Verdict = Unknown
			r.Unknown++
		default:
			r.Same++
		}
		complete = complete && one.Verdict == Same
		r.Instances = append(r.Instances, one)
		r.countTraces(i.trace, now)
	}
	r.compareOutput(c, loop.Output, complete)
	return nil
}

// countTraces adds up the Calls of two traces: those that ran, those about which people are asked, and the unknown
// ones.
func (r *Report) countTraces(then, now *trace) {
	for _, c := range then.calls {
		if c.ran {
			r.Calls++
		}
		if c.asked {
			r.Approvals.Then++
		}
	}
	for _, c := range now.calls {
		if c.asked {
			r.Approvals.Now++
		}
		if c.unknown {
			r.Unmatched++
		}
		r.Approvals.Automatic += c.approved
	}
}

// compareOutput compares the outputs of a process whose instances are all the same. It skips a recorded output that
// refers to State, which is not a value yet.
func (r *Report) compareOutput(c *chain, output any, complete bool) {
	refs, err := refexpr.FindReferences(c.output)
	if !complete || c.output == nil || err != nil || len(refs) > 0 || jsonval.Equal(c.output, output) {
		return
	}
	r.Outputs = append(r.Outputs, Difference{Kind: OtherOutput, About: "another output",
		Text: fmt.Sprintf("%s would give the output %s, and gave %s", c.ProcessID, briefJSON(output),
			briefJSON(c.output))})
}

// summarize groups the differences by kind.
func (r *Report) summarize() {
	at := map[string]int{}
	add := func(kind, about, name string) {
		n, ok := at[kind+about]
		if !ok {
			n = len(r.Summary)
			at[kind+about] = n
			r.Summary = append(r.Summary, Group{Kind: kind, About: about})
		}
		if list := r.Summary[n].Instances; len(list) == 0 || list[len(list)-1] != name {
			r.Summary[n].Instances = append(list, name)
		}
	}
	for _, i := range r.Instances {
		name := i.Name(len(r.Processes) > 1)
		for _, d := range i.Differences {
			add(d.Kind, d.About, name)
		}
		if i.Verdict == Unknown {
			add(Unknown, "not known", name)
		}
	}
}

// String describes a group in one line.
func (g Group) String() string {
	return fmt.Sprintf("%s: %s (in %s)", g.Kind, g.About, diag.FirstNamesAndCount(g.Instances))
}
