package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/client/ideafiles"
	"processidea/client/internal/kind"
	"processidea/learn/backtest"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/model/undo"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// UndoOptions select which Calls of a process are undone.
type UndoOptions struct {
	undo.Choice
	// Tools says which Tools are pure, and how to undo Go functions.
	Tools ideafiles.Tools
	// As names the process that undoes the Calls; empty: ID-undo-1, or the next number.
	As string
	// AtWork is set if the process has not ended: it undoes its Calls itself, once it is paused.
	AtWork bool
	// By is who orders the undo, and why.
	By By
	// Review makes each undoing Call wait for a person, who approves, answers or rejects it.
	Review bool
	// Wait is how long StartUndo waits for a process that undoes its Calls itself. 0: until it has done so, a person
	// must decide, or the context is about to end.
	Wait time.Duration
	// ofDelegate is set for a process that is undone with the Call that ran it.
	ofDelegate bool
}

// Undoing is a plan to undo what a process did. Client.StartUndo runs it.
type Undoing struct {
	Process string `json:"process"`
	// As is the id of the process that undoes it; with AtWork, the process's own id.
	As     string `json:"as"`
	AtWork bool   `json:"atWork,omitempty"`
	// UnderWay is set by StartUndo if a process AtWork has not undone everything yet. Waits lists its undoing Calls
	// that wait for a person.
	UnderWay bool     `json:"underWay,omitempty"`
	Waits    []string `json:"waits,omitempty"`
	undo.Plan

	archive       *Archive
	options       UndoOptions
	undoNumber    int // of As; 0: As was chosen by the caller
	idea          map[string]any
	of            map[[2]string]*backtest.ExecutedInstance // by process or part, and token
	parts         []map[string]int                         // by Idea of a split process: the latest Idea of each part
	delegateIdeas map[string]any                           // the Ideas that undo the processes of Calls, by undoneFile
}

// Undo plans, from the chain of a process, how to undo what it did: the Calls that undo it, what cannot be undone and
// why, and what stays because something reads it. It changes nothing. The error wraps ErrNotFound if there is no such
// process or Idea, ErrForgotten if it was forgotten, and ErrInvalid if a selected Call or instance does not exist, or
// the process was simulated. It is a *RefusedError if a selected Call is not done.
func (a *Archive) Undo(ctx context.Context, id string, o UndoOptions) (*Undoing, error) {
	u, ideas, calls, err := a.readUndo(ctx, id, o)
	if err == nil && !o.ofDelegate {
		err = u.keepForForks(ctx, calls)
	}
	if err == nil && !o.ofDelegate && !o.AtWork { // what runs has given nothing yet
		err = u.keepForCaller(ctx, calls)
	}
	if err != nil {
		return nil, err
	}
	o.Choice.Review = o.Review
	u.Plan, err = undo.Invert(calls, o.Choice, u.tool, func(c undo.Call) any { return u.instance(c).State })
	if kind.Is[approval.NothingDone](err) {
		return nil, undoRefused(id, err.Error())
	}
	if err != nil {
		return nil, kind.Errorf(ErrInvalid, "undo %s: %w", id, err)
	}
	switch {
	case o.AtWork && o.As != "":
		return nil, undoesItselfError(id, o.As)
	case o.AtWork:
		u.As = id
	case o.As != "":
		u.As, u.undoNumber = o.As, 0
		if err := u.checkFree(ctx); err != nil {
			return nil, err
		}
	}
	last := len(ideas)
	u.idea, err = a.Chain(id).withEarlierDeciders(ctx, u.undoIdea(ideas[last-1]), last)
	return u, err
}

// readUndo reads the Ideas of a process, and its Calls with all that is known about undoing them.
func (a *Archive) readUndo(ctx context.Context, id string, o UndoOptions) (u *Undoing, ideas []map[string]any,
	calls []undo.Call, err error) {
	run, err := a.FinishedRun(ctx, id, "undo")
	if err != nil {
		return nil, nil, nil, err
	}
	if last := len(run.Ideas); o.ToIdea > last {
		return nil, nil, nil, kind.Errorf(ErrNotFound, "undo %s to Idea %d: there are %d", id, o.ToIdea, last)
	}
	instances, err := backtest.ReadExecuted(run)
	if err != nil {
		return nil, nil, nil, kind.Errorf(ErrInvalid, "undo %s: %w", id, err)
	}
	earlier, n, err := a.Chain(id).undoneCalls(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	u = &Undoing{Process: id, As: undoID(id, n), AtWork: o.AtWork, archive: a, options: o, undoNumber: n,
		parts: jsonval.Map(run.Ideas, latestOfParts), of: map[[2]string]*backtest.ExecutedInstance{},
		delegateIdeas: jsonval.Object{}}
	calls, err = u.calls(ctx, instances, earlier)
	return u, run.Ideas, calls, err
}

// IsNothing reports whether nothing would be undone. A Call that leaves State alone counts if it was selected by its
// id.
func (u *Undoing) IsNothing() bool {
	return len(u.Undo) == 0 && (!u.AtWork || u.options.CallID == "" || len(u.Withdraw) == 0)
}

// InWords describes, in the words of the business, an undone Call or the Call that undoes it.
func (u *Undoing) InWords(ctx context.Context, w *shown.Words, did *undo.Call, tool string,
	params map[string]any) shown.Call {
	i := u.instance(*did)
	about := shown.Case{State: i.State,
		Input: ideafile.InstanceViewOf(i.Idea.Context, did.Instance).PayloadByKind[ideafile.TypeInput]}
	call, err := u.archive.inWords(blobs.ForProcess(ctx, u.Process), w, tool, params, did.Instance, about)
	if err != nil { // a value that the store cannot load is shown by its name
		call = w.Call(tool, params, did.Instance, about, LanguageOf(ctx))
	}
	return call
}

// undoID returns the id of the nth process that undoes another.
func undoID(id string, n int) string {
	suffix := fmt.Sprintf("-undo-%d", n)
	id = strings.ReplaceAll(strings.ReplaceAll(id, "/~", "~"), "/", "~")
	return spelling.ShortenID(id, id, maxIDBytes-len(suffix)) + suffix
}

// checkFree refuses an id for the undoing process that is invalid or in use.
func (u *Undoing) checkFree(ctx context.Context) error {
	if err := ValidateID(u.As); err != nil {
		return err
	}
	last, err := u.archive.Chain(u.As).Length(ctx)
	if err == nil && last > 0 {
		err = u.idInUseError()
	}
	return err
}

func (u *Undoing) idInUseError() error {
	return kind.Errorf(ErrOtherStart, "undo %s as %s: another process has this id: choose another one, or leave it out",
		u.Process, u.As)
}

func (u *Undoing) instance(c undo.Call) *backtest.ExecutedInstance {
	return u.of[[2]string{c.Process, c.Instance}]
}

// tool finds the Tool that undoes a Call.
func (u *Undoing) tool(c undo.Call, name string) *ideafile.Tool {
	return u.instance(c).Idea.Tool(name)
}

// calls adds to the Calls what the chains of the process, its parts and other processes say about them.
func (u *Undoing) calls(ctx context.Context, instances []backtest.ExecutedInstance,
	earlier map[ideafile.UndoneCall]UndoneCall) (calls []undo.Call, err error) {
	caller := ""
	if !u.AtWork && !u.options.ofDelegate {
		if caller, err = u.archive.callWithUndo(ctx, u.Process, u.options.Tools); err != nil {
			return nil, err
		}
	}
	ends, before := map[string]map[ideafile.CallStatus]map[string]int{}, map[string]forkOrigin{}
	bindings := map[string]map[string]ideafile.ToolBinding{}
	for n := range instances {
		i := &instances[n]
		u.of[[2]string{i.ProcessID, i.Token}] = i
		if ends[i.ProcessID] == nil {
			c := u.archive.Chain(i.ProcessID)
			if ends[i.ProcessID], err = c.endsByIdea(ctx); err == nil {
				before[i.ProcessID], err = c.forkedFrom(ctx, i.Idea)
			}
			if err != nil {
				return nil, err
			}
			bindings[i.ProcessID] = u.options.Tools.Bind(i.Idea)
		}
		for _, c := range i.Calls {
			when := ends[i.ProcessID]
			c.Idea = u.ideaOfWhole(i.ProcessID, cmp.Or(when[ideafile.Done][c.ID], when[ideafile.Failed][c.ID]))
			c.UndoneWith = caller
			c.UndoneBy = earlier[ideafile.UndoneCall{Process: c.Process, CallID: c.ID}].As
			c.DoneBefore, c.MustWait = before[i.ProcessID].processThatDid(c), u.AtWork && i.HasEnded
			if c.DoneBefore != "" {
				c.UndoneBy = cmp.Or(c.UndoneBy, before[i.ProcessID].undone[c.ID].As)
			}
			if t := i.Idea.Tool(c.Tool); t != nil {
				c.Method = u.undoMethod(c, t, bindings[i.ProcessID][t.Name])
				if t.DelegateFile != "" {
					err = u.readDelegate(ctx, &c)
				}
			} else {
				c.Method.Kind = ideafile.UndoNever
			}
			if calls = append(calls, c); err != nil {
				return nil, err
			}
		}
	}
	return calls, nil
}

// readDelegate finds how to undo the process that a Call ran, if the Call is undone in that way and the process is on
// record. A running process cannot undo such a Call.
func (u *Undoing) readDelegate(ctx context.Context, c *undo.Call) error {
	c.Delegate = protocol.DelegateID(c.Process, c.ID)
	switch {
	case c.UndoneBy+c.DoneBefore != "":
		return nil
	case c.Method.Kind == ideafile.UndoByTool:
		made, _, err := u.archive.Chain(c.Delegate).undoneCalls(ctx)
		for _, one := range made {
			if one.As != c.Delegate { // the delegate may have redone what it has undone itself
				c.UndoneBy = one.As
			}
		}
		return err
	case c.Method.Kind != ideafile.UndoProcess || u.options.AtWork:
		return nil
	}
	of, err := u.archive.Undo(ctx, c.Delegate, UndoOptions{Tools: u.options.Tools, By: u.options.By,
		Review: u.options.Review, ofDelegate: true})
	if errors.Is(err, ErrNotFound) && !c.Ran {
		c.Method.Kind = ideafile.UndoNone // it had done nothing yet
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) {
		return nil
	}
	if err == nil {
		c.DelegateUndo = &undo.DelegateUndo{Process: c.Delegate, Plan: of.Plan}
		u.delegateIdeas[undoneFile(c.Delegate)] = of.idea
	}
	return err
}

// callWithUndo names the Call that ran a process, directly or through other processes, if its Tool has an undo of its
// own. Then the process is undone with that Call, and not separately, which would use another key. Empty: there is no
// such Call.
func (a *Archive) callWithUndo(ctx context.Context, id string, tools ideafiles.Tools) (string, error) {
	caller, call, err := a.callerOf(ctx, spelling.WholeProcess(id))
	if caller == "" || err != nil {
		return "", err
	}
	run, err := a.FinishedRun(ctx, caller, "undo")
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) {
		return "", nil
	}
	var instances []backtest.ExecutedInstance
	if err == nil {
		instances, err = backtest.ReadExecuted(run)
	}
	for _, i := range instances {
		for _, c := range i.Calls {
			t := i.Idea.Tool(c.Tool)
			if t == nil || !c.Ran || ideafile.TypeableCallID(c.ID) != call {
				continue
			}
			if how := t.UndoUnder(tools.Bind(i.Idea)[t.Name]); how.Kind == ideafile.UndoByTool {
				return fmt.Sprintf("%s of %s, by %s", c.Name(), caller, how.Tool), nil
			}
		}
	}
	if err != nil {
		return "", err
	}
	return a.callWithUndo(ctx, caller, tools)
}

// callerOf returns the process, or the part, whose Call ran a delegate, and the Call in its typeable form. In a long id
// a digest stands for the process; then the process is searched for in the store. Empty: id is no delegate's, or the
// process is not in the store.
func (a *Archive) callerOf(ctx context.Context, id string) (process, call string, err error) {
	process, call = cutLast(id, "/~call/")
	if call == "" {
		return "", "", nil
	}
	if last, err := a.Chain(process).Length(ctx); last > 0 || err != nil {
		return process, call, err
	}
	all, err := a.Processes(ctx)
	n := slices.IndexFunc(all, func(process string) bool { return protocol.IsDelegateOf(id, process) })
	if n < 0 || err != nil {
		return "", "", err
	}
	return all[n], call, nil
}

// undoneFile returns the key, among the files of delegates, of the Idea that undoes a process.
func undoneFile(process string) string { return strings.ReplaceAll(process, "/", "~") }

// latestOfParts returns the number of the latest Idea of each part in an Idea of a split process.
func latestOfParts(idea jsonval.Object) map[string]int {
	latest := map[string]int{}
	for _, part := range jsonval.AsList(jsonval.At(idea, "meta", "parts")) {
		of := jsonval.AsObject(part)
		latest[jsonval.AsText(of["process"])], _ = jsonval.ReadPositiveInt(of["at"])
	}
	return latest
}

// ideaOfWhole returns the first Idea of the whole process that includes an Idea of its part; for a process that was not
// split, the Idea itself.
func (u *Undoing) ideaOfWhole(part string, at int) int {
	if part == u.Process || at == 0 {
		return at
	}
	whole := slices.IndexFunc(u.parts, func(latest map[string]int) bool { return latest[part] >= at })
	if whole < 0 {
		whole = len(u.parts) // it ended before it could report
	}
	return whole + 1
}

// undoMethod returns how to undo a Call of a Tool. With workers elsewhere, a Tool that nothing runs here may be a Go
// function there. Only the Call itself shows that the LLM wrote its result.
func (u *Undoing) undoMethod(c undo.Call, t *ideafile.Tool, b ideafile.ToolBinding) ideafile.Undo {
	if b.Kind == ideafile.KindLatent && u.options.Tools.OtherWorkers && !c.WrittenByLLM && t.Undo == nil {
		return ideafile.Undo{Kind: ideafile.UndoNever}
	}
	return t.UndoUnder(b)
}

// endsByIdea maps each Call of the chain to the first Idea that shows it as done, or as failed.
func (c *Chain) endsByIdea(ctx context.Context) (map[ideafile.CallStatus]map[string]int, error) {
	first := map[ideafile.CallStatus]map[string]int{ideafile.Done: {}, ideafile.Failed: {}}
	last, err := c.checkIdeaNumber(ctx, "undo", 0)
	for at := 1; at <= last && err == nil; at++ {
		tell := func(status ideafile.CallStatus, id string) {
			if reported := first[status]; reported != nil && reported[id] == 0 {
				reported[id] = at
			}
		}
		var log []turn.LogEntry
		if log, err = c.chains.StoredLogAt(ctx, c.process, at); err != nil {
			break
		}
		for _, e := range log {
			if e.IsWrite() && e.CorrectionNumber == 0 {
				tell(ideafile.Done, ideafile.FormatCallID(e.Request, e.Index, e.Instance))
			}
		}
		var link chain.Link
		var context any
		if link, err = c.chains.LinkAt(ctx, c.process, at); err == nil {
			context, err = c.chains.Context(ctx, c.process, protocol.IdeaRef{At: at, Digest: link.Digest})
		}
		if err == nil {
			idea, _ := ideafile.ReadIdeaWithCheckedTools(jsonval.Object{"context": context})
			eachRecorded(idea, func(p turn.RecordedCall, token string) {
				tell(p.StatusByInstance[token], p.CallKey().ID(token))
			})
		}
	}
	return first, err
}
