package simulation

import (
	"context"
	"errors"
	"fmt"

	"processidea/client"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// Report is what simulate --json prints: the output of run, and the results of the simulation.
type Report struct {
	loop.ProcessResult
	// TotalUsage is the Requests and tokens of the process and its delegates. IsEstimated: the tokens were not counted
	// by an LLM.
	TotalUsage  Usage `json:"total"`
	IsEstimated bool  `json:"estimated"`
	// CallCountsByTool counts the Calls of each Tool by their status.
	CallCountsByTool map[string]map[ideafile.CallStatus]int `json:"tools"`
	// ApprovalCount counts the Calls on which a person would have had to decide.
	ApprovalCount int             `json:"approvals"`
	Delegates     []DelegateUsage `json:"delegates"`
	// UnfinishedLines lists what did not finish, a line each.
	UnfinishedLines []string `json:"open"`
	// MadeUpRefs are the References to data that the files leave out.
	MadeUpRefs []string `json:"madeUp"`
	// UnaskedMCPServers are MCP servers whose tools are not known.
	UnaskedMCPServers []string `json:"unasked"`
	MermaidGraph      string   `json:"graph"` // the Plan as Mermaid; empty without a Plan
	// DataFolder is the folder with the data of the simulation; empty if none was kept. The caller that keeps it sets
	// it.
	DataFolder string `json:"data,omitempty"`
}

// Usage is what a process used.
type Usage struct {
	RequestCount int `json:"requests"`
	turn.TokenUsage
}

// DelegateUsage is what a delegate of a simulated process used.
type DelegateUsage struct {
	ProcessID string      `json:"process"`
	Status    loop.Status `json:"status"`
	Usage
}

// Report summarizes the simulated process. result is its result, final or not.
func (p *PreparedProcess) Report(ctx context.Context, c *client.Client, process *client.Process,
	result loop.ProcessResult) (*Report, error) {
	r := &Report{
		ProcessResult: result, IsEstimated: p.Simulation.LLMRepliesFrom != ideafile.FakedByLLM,
		CallCountsByTool: map[string]map[ideafile.CallStatus]int{},
		Delegates:        []DelegateUsage{}, UnfinishedLines: []string{},
		MadeUpRefs:        append([]string{}, p.MadeUpRefs...),
		UnaskedMCPServers: append([]string{}, p.UnaskedMCPServers...),
	}
	instances, err := process.Instances(ctx)
	if err != nil {
		return nil, err
	}
	for _, token := range jsonval.SortedKeys(result.Instances) {
		r.countCalls(token, result.Instances[token].Status, instances[token])
	}
	if err := r.addDelegateUsage(ctx, c, process); err != nil {
		return nil, err
	}
	calls, err := p.loadPlanCalls(ctx, c, process.ID())
	if err != nil {
		return nil, err
	}
	if len(calls) > 0 {
		r.MermaidGraph = plangraph.RenderMermaid(calls)
	}
	return r, nil
}

// countCalls adds the Calls and the status of one instance.
func (r *Report) countCalls(instanceToken string, status ideafile.InstanceStatus, v client.InstanceStatus) {
	for _, c := range v.Calls {
		if r.CallCountsByTool[c.Tool] == nil {
			r.CallCountsByTool[c.Tool] = map[ideafile.CallStatus]int{}
		}
		r.CallCountsByTool[c.Tool][c.Status]++
		for _, d := range c.Decisions {
			if d.DecidedBy == ideafile.SimulatedDecider {
				r.ApprovalCount++
			}
		}
		if c.Status != ideafile.CallDone && c.Status != ideafile.CallSkipped {
			line := fmt.Sprintf("%s %s: %s", c.ID, c.Tool, c.Status)
			if c.Error != nil {
				line += ": " + c.Error.Message
			}
			r.UnfinishedLines = append(r.UnfinishedLines, line)
		}
	}
	if status != ideafile.InstanceSettled {
		name := "the instance"
		if instanceToken != "" {
			name = "instance " + instanceToken
		}
		r.UnfinishedLines = append(r.UnfinishedLines, fmt.Sprintf("%s: %s", name, status))
	}
}

// addDelegateUsage adds the delegates of the process.
func (r *Report) addDelegateUsage(ctx context.Context, c *client.Client, process *client.Process) error {
	r.TotalUsage = Usage{r.RequestCount, r.Usage}
	delegateIDs, err := process.DelegateIDs(ctx)
	if err != nil {
		return err
	}
	for _, id := range delegateIDs {
		delegate, err := c.Attach(ctx, id)
		if err != nil {
			return err
		}
		d, err := delegate.Snapshot(ctx)
		if err != nil && !errors.Is(err, client.ErrNoWorker) {
			return err
		}
		r.Delegates = append(r.Delegates, DelegateUsage{id, d.Status, Usage{d.RequestCount, d.Usage}})
		r.TotalUsage.RequestCount += d.RequestCount
		r.TotalUsage.Add(d.Usage)
	}
	return nil
}

// loadPlanCalls returns all Calls that the process planned, after those of a Plan that runs without a Request; for a
// split process, the Calls of its first part.
func (p *PreparedProcess) loadPlanCalls(ctx context.Context, c *client.Client, processID string) ([]any, error) {
	chain := c.Chain(processID)
	ideaCount, err := chain.Length(ctx)
	if err != nil {
		return nil, err
	}
	partChain := c.Chain(protocol.PartID(processID, 1))
	if n, err := partChain.Length(ctx); err == nil && n > 0 {
		chain, ideaCount = partChain, n
	}
	calls := p.directPlanCalls()
	for ideaNumber := 1; ideaNumber <= ideaCount; ideaNumber++ {
		idea, err := chain.Load(ctx, ideaNumber)
		if err != nil {
			return nil, err
		}
		calls = append(calls, client.SolutionCallsOf(idea)...)
	}
	return calls, nil
}

// directPlanCalls returns the Calls of the Plans that run without a Request.
func (p *PreparedProcess) directPlanCalls() (calls []any) {
	for _, m := range p.ParsedIdea.Context {
		if m.PlanStage != "" {
			calls = append(calls, ideafile.RawWrittenCalls(jsonval.Map(m.PlanCalls,
				p.ParsedIdea.WithToolFixedValues))...)
		}
	}
	return calls
}
