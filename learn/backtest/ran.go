package backtest

import (
	"fmt"
	"strings"

	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/undo"
)

// RanInstance is an instance of a process, ended or not, with its Calls as they ran.
type RanInstance struct {
	// ProcessID is the process or the part of it that has the instance, Idea its latest one.
	ProcessID, Token string
	Idea             *ideafile.Idea
	State            any
	Calls            []undo.Call
}

// ReadRan reads what the Calls of a process did, by its chain: with what each ran, what it read and wrote, and what it
// came to. Where an instance cannot be repeated from the chain, that of its Calls is known which the chain says by
// itself.
func ReadRan(run Run) (all []RanInstance, err error) {
	runs := run.Parts
	if len(runs) == 0 {
		runs = []Run{run}
	}
	for _, r := range runs {
		if len(r.Ideas) == 0 {
			continue
		}
		c, reader, err := openChain(r)
		if err != nil {
			return nil, fmt.Errorf("model: backtest %s: %w", run.ProcessID, err)
		}
		for _, token := range c.last.InstanceTokens() {
			all = append(all, reader.readRan(token))
		}
	}
	return all, nil
}

func (r *chainReader) readRan(token string) RanInstance {
	i := r.instanceAsItStands(token)
	if !i.status.HasEnded() {
		r.addUntold(i)
	}
	player, memory := replay(r.chain, i)
	t := tracePast(player, memory, i)
	if t.unlike && i.undone {
		r.undoWrites(i, false)
		player, memory = replay(r.chain, i)
		t = tracePast(player, memory, i)
	}
	i.trace = t
	why := i.whyNotRepeated()
	out := RanInstance{r.chain.processID, token, r.chain.last, i.finalState, nil}
	traced := map[ideafile.CallKey]*tracedCall{}
	for n, rec := range player.flow.CallRecords() {
		traced[ideafile.CallKey{Request: rec.Request, Index: rec.Index}] = t.calls[n]
	}
	for _, c := range undo.CallsOf(player.flow, r.chain.tools) {
		past := memory.byKey[c.Key]
		c.Began, c.Ended = player.moments[c.ID][0], player.moments[c.ID][1]
		c.Process, c.ID = r.chain.processID, ideafile.FormatCallID(past.key.Request, past.key.Index, token)
		c.Status, c.Fault, c.Result = past.status, past.fault, past.result
		r.readWrites(&c, i, past)
		describeRun(&c, traced[c.Key], past, why)
		out.Calls = append(out.Calls, c)
	}
	return out
}

// addUntold adds the Calls of a direct Plan of which nothing is told, in an instance that was ended while it was at
// work: they may have run. Calls of a solution of which no record tells may have, too.
func (r *chainReader) addUntold(i *pastInstance) {
	known := map[ideafile.CallKey]bool{}
	for _, c := range i.calls {
		known[c.key] = true
	}
	for _, p := range r.begun {
		for _, c := range i.calls {
			if c.key == p.CallKey() && !r.wrote(i, c.key) {
				c.status = ideafile.Running
			}
		}
	}
	last := r.chain.last
	at, _ := ideafile.FindDirectPlans(last.Context).ChooseForInstance(i.token,
		ideafile.InstanceViewOf(last.Context, i.token))
	if at < 0 {
		return
	}
	for n, w := range last.Context[at].PlanCalls {
		key := ideafile.CallKey{Index: last.Context[at].CallIndexOffset + n + 1}
		if !known[key] && !w.TargetsOtherInstance(i.token) {
			i.calls = append(i.calls, &pastCall{key: key, written: w.WithoutTarget(), status: ideafile.Running})
		}
	}
}

func (r *chainReader) wrote(i *pastInstance, key ideafile.CallKey) bool {
	for _, e := range r.writes[i.token] {
		if e.Request == key.Request && e.Index == key.Index && e.CorrectionNumber == 0 {
			return true
		}
	}
	return false
}

// readWrites takes what the log says that a Call wrote: a repetition may have come to less.
func (r *chainReader) readWrites(c *undo.Call, i *pastInstance, past *pastCall) {
	c.Writes, c.IsUpdate = nil, false
	for _, e := range r.writes[i.token] {
		if e.Request != past.key.Request || e.Index != past.key.Index || e.CorrectionNumber != 0 {
			continue
		}
		c.Writes = append(c.Writes, undo.WrittenPaths(e.Path, e.Value)...)
		c.IsUpdate = c.IsUpdate || statelog.IsUpdateWrite(e.OutputMethod, e.Path)
		if past.ranCall != nil && past.ranCall.Tool != past.written.Tool {
			c.Result = e.Value // of the Call that took its place
		}
	}
}

// describeRun says whether a Call ran, of which Tool and with what. why is why its instance cannot be repeated; empty
// where it can.
func describeRun(c *undo.Call, t *tracedCall, past *pastCall, why string) {
	last := ""
	if n := len(past.decisions); n > 0 {
		last = past.decisions[n-1].Kind
	}
	_, c.WrittenByLLM = past.written.RawObject()["_output"]
	c.Ran = past.status == ideafile.Done && last != policy.Answer
	switch {
	case past.ranCall != nil:
		c.Tool, c.Params = past.ranCall.Tool, past.ranCall.Params
	case t != nil && t.params != nil && why == "":
		c.Tool, c.Params = t.ranTool, t.ranParams
	case last == policy.Amend || last == policy.Replace:
		c.Tool, c.NotKnown = "", "what a person made of it is not on record"
	case holdsReference(past.written):
		if c.NotKnown = why; why == "" {
			c.NotKnown = "what it read is not on record"
		}
	default:
		c.Tool, c.Params = past.written.Tool, writtenParams(past.written)
	}
}

func holdsReference(w ideafile.WrittenCall) bool {
	refs, err := refexpr.FindReferences(writtenParams(w))
	return err != nil || len(refs) > 0
}

func writtenParams(w ideafile.WrittenCall) map[string]any {
	params := map[string]any{}
	for _, k := range jsonval.SortedKeys(w.RawObject()) {
		if !strings.HasPrefix(k, "_") {
			params[k] = w.RawObject()[k]
		}
	}
	return params
}
