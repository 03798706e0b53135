package main

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/plangraph"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/chain"
)

// simulationReport is what simulate --json prints: what run prints, and what a simulation is made for.
type simulationReport struct {
	loop.Result
	// Total is the Requests and tokens of the process with its delegates. Estimated says that no LLM counted the tokens.
	Total     spent `json:"total"`
	Estimated bool  `json:"estimated"`
	// Tools counts the Calls of each Tool by what became of them.
	Tools map[string]map[ideafile.CallStatus]int `json:"tools"`
	// Approvals counts the Calls at which a person would have had to look.
	Approvals int             `json:"approvals"`
	Delegates []delegateSpent `json:"delegates"`
	// Open is what did not come to its end, a line each.
	Open []string `json:"open"`
	// MadeUp are the References to data that the file does not bring.
	MadeUp []string `json:"madeUp"`
	// Unasked are MCP servers whose tools are not known.
	Unasked []string `json:"unasked"`
	Graph   string   `json:"graph"` // of the Plan, as Mermaid; empty where there is none
	// Data is the folder in which everything was kept; empty: nothing was.
	Data string `json:"data,omitempty"`
}

// spent is what a process cost.
type spent struct {
	Requests int `json:"requests"`
	turn.Usage
}

// delegateSpent is a delegate of a simulated process.
type delegateSpent struct {
	Process string             `json:"process"`
	Status  loop.ProcessStatus `json:"status"`
	spent
}

// report looks at everything that a simulated process came to.
func (r *runner) report(ctx context.Context, made *simulation, result loop.Result) (*simulationReport, error) {
	rep := &simulationReport{
		Result: result, Estimated: made.by.Plans != ideafile.FakedByLLM, Tools: map[string]map[ideafile.CallStatus]int{},
		Delegates: []delegateSpent{}, Open: []string{}, MadeUp: append([]string{}, made.madeUp...), Unasked: append([]string{}, made.silent...),
	}
	views, err := r.instanceViews(ctx, result)
	if err != nil {
		return nil, err
	}
	for _, token := range sortedKeys(views) {
		rep.count(token, result.Instances[token].Status, views[token])
	}
	if err := r.addDelegates(ctx, rep); err != nil {
		return nil, err
	}
	calls, err := r.planOf(ctx, result.Process)
	if err != nil {
		return nil, err
	}
	if len(calls) > 0 {
		rep.Graph = plangraph.Mermaid(calls)
	}
	return rep, nil
}

// instanceViews asks every instance, ended or not, what became of its Calls.
func (r *runner) instanceViews(ctx context.Context, result loop.Result) (map[string]protocol.InstanceView, error) {
	var v protocol.ProcessView
	if err := r.query(ctx, result.Process, &v); err != nil {
		return nil, err
	}
	tokens := sortedKeys(result.Instances)
	views := make([]protocol.InstanceView, len(tokens))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(queriesAtOnce)
	for n, token := range tokens {
		g.Go(func() error {
			return r.query(ctx, v.InstanceID(token), &views[n])
		})
	}
	err := g.Wait()
	out := map[string]protocol.InstanceView{}
	for n, token := range tokens {
		out[token] = views[n]
	}
	return out, err
}

// query asks a workflow where it stands, which of one that has ended takes the time to read its history.
func (r *runner) query(ctx context.Context, workflow string, to any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	answer, err := r.session.QueryWorkflow(ctx, workflow, "", protocol.QueryStatus)
	if err == nil {
		err = answer.Get(to)
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", workflow, err)
	}
	return nil
}

// count adds what became of one instance.
func (rep *simulationReport) count(token string, status ideafile.InstanceStatus, v protocol.InstanceView) {
	for _, c := range v.Calls {
		if rep.Tools[c.Tool] == nil {
			rep.Tools[c.Tool] = map[ideafile.CallStatus]int{}
		}
		rep.Tools[c.Tool][c.Status]++
		for _, d := range c.Decisions {
			if d.By == ideafile.SimulatedPerson {
				rep.Approvals++
			}
		}
		if c.Status != ideafile.Done && c.Status != ideafile.Skipped {
			line := fmt.Sprintf("%s %s: %s", c.ID, c.Tool, c.Status)
			if c.Error != nil {
				line += ": " + c.Error.Message
			}
			rep.Open = append(rep.Open, line)
		}
	}
	if status != ideafile.InstanceSettled {
		name := "the instance"
		if token != "" {
			name = "instance " + token
		}
		rep.Open = append(rep.Open, fmt.Sprintf("%s: %s", name, status))
	}
}

// addDelegates adds the processes that Calls of this one ran.
func (r *runner) addDelegates(ctx context.Context, rep *simulationReport) error {
	rep.Total = spent{rep.Requests, rep.Usage}
	ids, err := r.delegateIDs(ctx, rep.Process)
	if err != nil {
		return err
	}
	for _, id := range ids {
		d, err := r.session.look(ctx, id)
		if err != nil {
			return err
		}
		rep.Delegates = append(rep.Delegates, delegateSpent{id, d.Status, spent{d.Requests, d.Usage}})
		rep.Total.Requests += d.Requests
		rep.Total.Add(d.Usage)
	}
	return nil
}

// delegateIDs lists the delegates of a process, and theirs: the instances in between stand in their ids.
func (r *runner) delegateIDs(ctx context.Context, process string) (ids []string, err error) {
	ask := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: r.session.namespace, PageSize: 1000, Query: fmt.Sprintf("WorkflowType = '%s'", protocol.ProcessType),
	}
	seen := map[string]bool{}
	for {
		page, err := r.session.ListWorkflow(ctx, ask)
		if err != nil {
			return nil, fmt.Errorf("list delegates of %s: %w", process, err)
		}
		for _, e := range page.GetExecutions() {
			id := e.GetExecution().GetWorkflowId()
			again := e.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW
			under, ok := strings.CutPrefix(id, process+"/")
			if _, part := partOf(id); ok && !again && !part && strings.Contains(under, "~call/") && !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
		if ask.NextPageToken = page.GetNextPageToken(); len(ask.NextPageToken) == 0 {
			sort.Strings(ids)
			return ids, nil
		}
	}
}

// partOf says whether a workflow id is that of a part, which its whole tells of.
func partOf(id string) (whole string, ok bool) {
	at := strings.LastIndex(id, "/~part/")
	if at < 0 || strings.Contains(id[at+len("/~part/"):], "/") {
		return "", false
	}
	return id[:at], true
}

// planOf gives all Calls that a process planned, or the Plan by which it ran; of one that is split, those of its first part.
func (r *runner) planOf(ctx context.Context, process string) ([]any, error) {
	c := &archive{chain.New(r.session.values), r.session.values}
	last, err := c.Latest(ctx, process)
	if first := protocol.PartID(process, 1); err == nil {
		if n, errPart := c.Latest(ctx, first); errPart == nil && n > 0 {
			process, last = first, n
		}
	}
	var calls []any
	for k := 1; k <= last && err == nil; k++ {
		var idea map[string]any
		if idea, err = c.Load(ctx, process, k); err == nil {
			calls = append(calls, solutionOf(idea)...)
		}
	}
	if errors.Is(err, chain.ErrNoIdea) {
		err = nil
	}
	if direct := r.directPlan(); len(calls) == 0 || len(direct) > 0 {
		calls = append(direct, calls...)
	}
	return calls, err
}

// directPlan is the Calls of the Plans that run without a Request.
func (r *runner) directPlan() (calls []any) {
	for _, m := range r.material.read.Context {
		if m.Stage != "" {
			calls = append(calls, ideafile.WrittenValues(m.Calls)...)
		}
	}
	return calls
}
