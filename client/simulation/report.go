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
	loop.Result
	// Total is the Requests and tokens of the process and its delegates. Estimated: the tokens were not counted by an
	// LLM.
	Total       Cost `json:"total"`
	IsEstimated bool `json:"estimated"`
	// Tools counts the Calls of each Tool by their status.
	Tools map[string]map[ideafile.CallStatus]int `json:"tools"`
	// ApprovalCount counts the Calls on which a person would have had to decide.
	ApprovalCount int            `json:"approvals"`
	Delegates     []DelegateCost `json:"delegates"`
	// Unfinished lists what did not finish, a line each.
	Unfinished []string `json:"open"`
	// MadeUpRefs are the References to data that the files leave out.
	MadeUpRefs []string `json:"madeUp"`
	// UnaskedMCPServers are MCP servers whose tools are not known.
	UnaskedMCPServers []string `json:"unasked"`
	Graph             string   `json:"graph"` // the Plan as Mermaid; empty without a Plan
	// DataFolder is the folder with the data of the simulation; empty if none was kept. The caller that keeps it sets it.
	DataFolder string `json:"data,omitempty"`
}

// Cost is what a process used.
type Cost struct {
	Requests int `json:"requests"`
	turn.TokenUsage
}

// DelegateCost is what a delegate of a simulated process used.
type DelegateCost struct {
	Process string      `json:"process"`
	Status  loop.Status `json:"status"`
	Cost
}

// Report summarizes the simulated process. result is its result, final or not.
func (p *Prepared) Report(ctx context.Context, c *client.Client, process *client.Process,
	result loop.Result) (*Report, error) {
	r := &Report{
		Result: result, IsEstimated: p.Players.LLMRepliesFrom != ideafile.FakedByLLM,
		Tools:     map[string]map[ideafile.CallStatus]int{},
		Delegates: []DelegateCost{}, Unfinished: []string{}, MadeUpRefs: append([]string{}, p.MadeUpRefs...),
		UnaskedMCPServers: append([]string{}, p.UnaskedMCPServers...),
	}
	instances, err := process.Instances(ctx)
	if err != nil {
		return nil, err
	}
	for _, token := range jsonval.SortedKeys(result.Instances) {
		r.countCalls(token, result.Instances[token].Status, instances[token])
	}
	if err := r.addDelegates(ctx, c, process); err != nil {
		return nil, err
	}
	calls, err := p.loadPlanCalls(ctx, c, process.ID())
	if err != nil {
		return nil, err
	}
	if len(calls) > 0 {
		r.Graph = plangraph.RenderMermaid(calls)
	}
	return r, nil
}

// countCalls adds the Calls and the status of one instance.
func (r *Report) countCalls(token string, status ideafile.InstanceStatus, v client.InstanceStatus) {
	for _, c := range v.Calls {
		if r.Tools[c.Tool] == nil {
			r.Tools[c.Tool] = map[ideafile.CallStatus]int{}
		}
		r.Tools[c.Tool][c.Status]++
		for _, d := range c.Decisions {
			if d.DecidedBy == ideafile.SimulatedPerson {
				r.ApprovalCount++
			}
		}
		if c.Status != ideafile.Done && c.Status != ideafile.Skipped {
			line := fmt.Sprintf("%s %s: %s", c.ID, c.Tool, c.Status)
			if c.Error != nil {
				line += ": " + c.Error.Message
			}
			r.Unfinished = append(r.Unfinished, line)
		}
	}
	if status != ideafile.InstanceSettled {
		name := "the instance"
		if token != "" {
			name = "instance " + token
		}
		r.Unfinished = append(r.Unfinished, fmt.Sprintf("%s: %s", name, status))
	}
}

// addDelegates adds the delegates of the process.
func (r *Report) addDelegates(ctx context.Context, c *client.Client, process *client.Process) error {
	r.Total = Cost{r.RequestCount, r.Usage}
	ids, err := process.Delegates(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		delegate, err := c.Attach(ctx, id)
		if err != nil {
			return err
		}
		d, err := delegate.Snapshot(ctx)
		if err != nil && !errors.Is(err, client.ErrNoWorker) {
			return err
		}
		r.Delegates = append(r.Delegates, DelegateCost{id, d.Status, Cost{d.RequestCount, d.Usage}})
		r.Total.Requests += d.RequestCount
		r.Total.Add(d.Usage)
	}
	return nil
}

// loadPlanCalls returns all Calls that the process planned, after those of a Plan that runs without a Request; for a
// split process, the Calls of its first part.
func (p *Prepared) loadPlanCalls(ctx context.Context, c *client.Client, process string) ([]any, error) {
	chain := c.Chain(process)
	last, err := chain.Length(ctx)
	if err != nil {
		return nil, err
	}
	part := c.Chain(protocol.PartID(process, 1))
	if n, err := part.Length(ctx); err == nil && n > 0 {
		chain, last = part, n
	}
	calls := p.directPlan()
	for number := 1; number <= last; number++ {
		idea, err := chain.Load(ctx, number)
		if err != nil {
			return nil, err
		}
		calls = append(calls, client.SolutionOf(idea)...)
	}
	return calls, nil
}

// directPlan returns the Calls of the Plans that run without a Request.
func (p *Prepared) directPlan() (calls []any) {
	for _, m := range p.Parsed.Context {
		if m.PlanStage != "" {
			calls = append(calls, ideafile.RawWrittenCalls(jsonval.Map(m.PlanCalls, p.Parsed.WithToolFixedValues))...)
		}
	}
	return calls
}
