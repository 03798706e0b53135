package backtest

import (
	"fmt"
	"slices"

	"processidea/learn/harden"
	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// Run is a finished process as its chain recorded it: the Ideas in order, and the log.
type Run struct {
	ProcessID string
	Ideas     []map[string]any
	Log       []turn.LogEntry
	// Parts are those of a process that was split: its instances and their Calls are there.
	Parts []Run
}

// RunOf is a finished process as it is read here.
func RunOf(run harden.FinishedRun) Run {
	out := Run{ProcessID: run.ProcessID, Ideas: run.Ideas, Log: run.Log}
	for _, part := range run.Parts {
		out.Parts = append(out.Parts, RunOf(part))
	}
	return out
}

// Past is a finished process that has been read.
type Past struct {
	processID string
	chains    []*chain
	leftOut   []LeftOut
}

// LeftOut is an instance that cannot be compared, and why.
type LeftOut struct {
	Process  string `json:"process"`
	Instance string `json:"instance"`
	Reason   string `json:"why"`
}

// chain is what one chain of Ideas tells: that of a process, or of one part of it.
type chain struct {
	processID   string
	first, last *ideafile.Idea
	tools       []*ideafile.Tool
	instances   []*pastInstance
	output      any // the solution's last output; nil where there was none
}

// pastInstance is one instance as it went.
type pastInstance struct {
	processID, token string
	// own are the Messages with data that the instance had for itself, as it began; shared are those that all had.
	own, shared []ideafile.Message
	calls       []*pastCall // in Plan order
	corrected   bool        // a person wrote State while it ran
	undone      bool        // the State with which it began was found by undoWrites
	finalState  any
	status      ideafile.InstanceStatus
	steps       []ideafile.StepOutcome // of the instructions that it went by
	trace       *trace
}

// pastCall is a Call in one instance, and what became of it.
type pastCall struct {
	key       ideafile.CallKey
	written   ideafile.WrittenCall
	status    ideafile.CallStatus
	fault     *diag.Fault
	result    any
	hasResult bool
	decisions []approval.Decision
	ranCall   *turn.ExecutedCall // as it ran after people's decisions
	adapted   *approval.ParamsAdaptation
	// handedBack are the values that a delegate wrote into State beside its result, by path.
	handedBack map[string]any
}

// Read reads a finished process, and repeats it from its chain. The error says that there is nothing to read, that it
// has not finished, or that its values are made up.
func Read(run Run) (*Past, error) {
	if len(run.Ideas) == 0 {
		return nil, fmt.Errorf("model: backtest %s: it has no Ideas", run.ProcessID)
	}
	p := &Past{processID: run.ProcessID}
	runs := run.Parts
	if len(runs) == 0 {
		runs = []Run{run}
	}
	for _, r := range runs {
		if len(r.Ideas) == 0 {
			continue
		}
		c, err := p.readChain(r)
		if err != nil {
			return nil, fmt.Errorf("model: backtest %s: %w", run.ProcessID, err)
		}
		p.chains = append(p.chains, c)
	}
	return p, nil
}

// openChain reads what one chain tells of all instances.
func openChain(run Run) (*chain, *chainReader, error) {
	c := &chain{processID: run.ProcessID}
	var ideas []*ideafile.Idea
	for _, source := range run.Ideas {
		idea, _ := ideafile.ReadIdea(source)
		ideas = append(ideas, idea)
		if out := jsonval.AsObject(source["solution"])["output"]; out != nil {
			c.output = out
		}
	}
	c.first, c.last = ideas[0], ideas[len(ideas)-1]
	if c.first.Simulation != nil || c.last.Simulation != nil {
		return nil, nil, fmt.Errorf("it was simulated: its values are made up, and no Tool ran")
	}
	c.tools = c.last.Tools
	return c, newChainReader(c, ideas, run.Log), nil
}

func (p *Past) readChain(run Run) (*chain, error) {
	c, reader, err := openChain(run)
	if err != nil {
		return nil, err
	}
	for _, token := range c.last.InstanceTokens() {
		i, err := reader.readInstance(token)
		if err != nil {
			return nil, err
		}
		i.processID = p.processID
		if i.trace = runPast(c, i); i.trace.unlike && i.undone {
			reader.undoWrites(i, false)
			i.trace = runPast(c, i)
		}
		if why := i.whyNotRepeated(); why != "" {
			p.leftOut = append(p.leftOut, LeftOut{p.processID, token, why})
			continue
		}
		c.instances = append(c.instances, i)
	}
	return c, nil
}

// whyNotRepeated says why the chain does not tell how the instance went: the repetition must come to the State that it
// ended with.
func (i *pastInstance) whyNotRepeated() string {
	switch {
	case jsonval.Equal(i.trace.state, i.finalState):
		return ""
	case i.corrected:
		return "a person changed its State while it ran"
	}
	return "its chain does not tell how it came to " +
		diag.FirstNamesAndCount(differingKeys(i.trace.state, i.finalState))
}

// differingKeys names the top-level paths in which two States differ.
func differingKeys(a, b any) (names []string) {
	x, y := jsonval.AsObject(a), jsonval.AsObject(b)
	keys := slices.Concat(jsonval.SortedKeys(x), jsonval.SortedKeys(y))
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		v, inX := x[k]
		w, inY := y[k]
		if inX != inY || !jsonval.Equal(v, w) {
			names = append(names, refexpr.Reference{Kind: ideafile.TypeState, Path: jsonval.Path{k}}.String())
		}
	}
	return names
}
