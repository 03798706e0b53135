package backtest

import (
	"fmt"

	"processidea/learn/past"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// FinishedProcess is a finished process that has been read.
type FinishedProcess struct {
	processID        string
	chains           []*chain
	skippedInstances []SkippedInstance
}

// SkippedInstance is an instance that cannot be compared, and why.
type SkippedInstance struct {
	ProcessID string `json:"process"`
	Instance  string `json:"instance"`
	Reason    string `json:"why"`
}

// chain holds what one chain of Ideas records, of a process or of one of its parts.
type chain struct {
	*past.Chain
	instances  []*pastInstance
	lastOutput any // the solution's last output; nil if there was none
}

// pastInstance is the recorded past of one instance.
type pastInstance struct {
	processID, token string
	// ownMessages are the Messages with the data that the instance alone began with; shared are those for all
	// instances.
	ownMessages, sharedMessages []ideafile.Message
	calls                       []*past.Call // in Plan order
	wasStateCorrected           bool         // a person wrote State while it ran
	isStartStateRestored        bool         // restoreStartState found the State with which it began
	finalState                  any
	status                      ideafile.InstanceStatus
	stepOutcomes                []ideafile.StepOutcome // of the instructions that it followed
	trace                       *runTrace
}

// Read reads a finished process, and replays it from its chain. The error says that there is nothing to read, that the
// process has not finished, or that its values are made up.
func Read(run past.RecordedProcess) (*FinishedProcess, error) {
	p := &FinishedProcess{processID: run.ProcessID}
	var err error
	if p.chains, err = openChains(run); err != nil {
		return nil, err
	}
	for _, c := range p.chains {
		if err := p.readInstances(c); err != nil {
			return nil, fmt.Errorf("model: backtest %s: %w", run.ProcessID, err)
		}
	}
	return p, nil
}

// openChains reads the chains that contain the instances of a process.
func openChains(run past.RecordedProcess) (chains []*chain, err error) {
	instanceChains, err := past.OpenInstanceChains(run)
	if err != nil {
		return nil, fmt.Errorf("model: backtest %s: %w", run.ProcessID, err)
	}
	for _, part := range instanceChains {
		c := &chain{Chain: part}
		for _, idea := range part.Ideas {
			if output := jsonval.Lookup(idea.Source, "solution", "output"); output != nil {
				c.lastOutput = output
			}
		}
		chains = append(chains, c)
	}
	return chains, nil
}

func (p *FinishedProcess) readInstances(c *chain) error {
	for _, token := range c.Last().InstanceTokens() {
		i := c.readInstance(token)
		if !i.status.HasEnded() {
			return fmt.Errorf("it has not finished")
		}
		i.processID = p.processID
		c.replayByRequest(i)
		if reason := i.replayMismatchReason(); reason != "" {
			p.skippedInstances = append(p.skippedInstances, SkippedInstance{p.processID, token, reason})
			continue
		}
		c.instances = append(c.instances, i)
	}
	return nil
}

// replayMismatchReason says why the chain does not explain how the instance went, or "" if it does: a replay must lead
// to the State that the instance ended with.
func (i *pastInstance) replayMismatchReason() string {
	switch {
	case jsonval.Equal(i.trace.state, i.finalState):
		return ""
	case i.wasStateCorrected:
		return "a person changed its State while it ran"
	}
	return "its chain does not tell how it came to " +
		diag.SummarizeNames(past.DifferingPaths(i.trace.state, i.finalState))
}
