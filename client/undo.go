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
	// UndoID names the process that undoes the Calls; empty: ID-undo-1, or the next number.
	UndoID string
	// ProcessIsOpen is set if the process has not ended: it undoes its Calls itself, once it is paused.
	ProcessIsOpen bool
	// Actor is who orders the undo, and why.
	Actor Actor
	// Review makes each undoing Call wait for a person, who approves, answers or rejects it.
	Review bool
	// Wait is how long StartUndo waits for a process that undoes its Calls itself. 0: until it has done so, a person
	// must decide, or the context is about to end.
	Wait time.Duration
	// isForDelegate is set for a process that is undone with the Call that ran it.
	isForDelegate bool
}

// Undoing is a plan to undo what a process did. Client.StartUndo runs it.
type Undoing struct {
	Process string `json:"process"`
	// UndoID is the id of the process that undoes it; with ProcessIsOpen, the process's own id.
	UndoID        string `json:"as"`
	ProcessIsOpen bool   `json:"atWork,omitempty"`
	// UnderWay is set by StartUndo if a process ProcessIsOpen has not undone everything yet. Waits lists its undoing Calls
	// that wait for a person.
	UnderWay     bool     `json:"underWay,omitempty"`
	WaitingCalls []string `json:"waits,omitempty"`
	undo.Plan

	archive          *Archive
	options          UndoOptions
	undoNumber       int // of As; 0: As was chosen by the caller
	idea             map[string]any
	instanceByKey    map[[2]string]*backtest.ExecutedInstance // by process or part, and token
	latestIdeaByPart []map[string]int                         // by Idea of a split process: the latest Idea of each part
	delegateIdeas    map[string]any                           // the Ideas that undo the processes of Calls, by undoIdeaKey
}

// Undo plans, from the chain of a process, how to undo what it did: the Calls that undo it, what cannot be undone and
// why, and what stays because something reads it. It changes nothing. The error wraps ErrNotFound if there is no such
// process or Idea, ErrForgotten if it was forgotten, and ErrInvalid if a selected Call or instance does not exist, or
// the process was simulated. It is a *RefusedError if a selected Call is not done.
func (a *Archive) Undo(ctx context.Context, id string, o UndoOptions) (*Undoing, error) {
	u, ideas, calls, err := a.readUndo(ctx, id, o)
	if err == nil && !o.isForDelegate {
		err = u.markReadsInForks(ctx, calls)
	}
	if err == nil && !o.isForDelegate && !o.ProcessIsOpen { // what runs has given nothing yet
		err = u.markReadsByCaller(ctx, calls)
	}
	if err != nil {
		return nil, err
	}
	o.Choice.RequiresReview = o.Review
	u.Plan, err = undo.PlanUndo(calls, o.Choice, u.tool, func(c undo.Call) any { return u.instance(c).State })
	if kind.Is[approval.NothingDoneError](err) {
		return nil, undoRefusedError(id, err.Error())
	}
	if err != nil {
		return nil, kind.Errorf(ErrInvalid, "undo %s: %w", id, err)
	}
	switch {
	case o.ProcessIsOpen && o.UndoID != "":
		return nil, undoesItselfError(id, o.UndoID)
	case o.ProcessIsOpen:
		u.UndoID = id
	case o.UndoID != "":
		u.UndoID, u.undoNumber = o.UndoID, 0
		if err := u.checkIDUnused(ctx); err != nil {
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
	if last := len(run.Ideas); o.AfterIdea > last {
		return nil, nil, nil, kind.Errorf(ErrNotFound, "undo %s to Idea %d: there are %d", id, o.AfterIdea, last)
	}
	instances, err := backtest.ReadExecutedInstances(run)
	if err != nil {
		return nil, nil, nil, kind.Errorf(ErrInvalid, "undo %s: %w", id, err)
	}
	undoneByKey, n, err := a.Chain(id).undoneCalls(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	u = &Undoing{Process: id, UndoID: undoID(id, n), ProcessIsOpen: o.ProcessIsOpen, archive: a, options: o, undoNumber: n,
		latestIdeaByPart: jsonval.Map(run.Ideas, latestByPart), instanceByKey: map[[2]string]*backtest.ExecutedInstance{},
		delegateIdeas: jsonval.Object{}}
	calls, err = u.annotateCalls(ctx, instances, undoneByKey)
	return u, run.Ideas, calls, err
}

// IsNothing reports whether nothing would be undone. A Call that leaves State alone counts if it was selected by its
// id.
func (u *Undoing) IsNothing() bool {
	return len(u.Steps) == 0 && (!u.ProcessIsOpen || u.options.CallID == "" || len(u.CallIDsToWithdraw) == 0)
}

// DescribeCall describes, in the words of the business, an undone Call or the Call that undoes it.
func (u *Undoing) DescribeCall(ctx context.Context, w *shown.Presenter, doneCall *undo.Call, tool string,
	params map[string]any) shown.Call {
	i := u.instance(*doneCall)
	instanceValues := shown.InstanceValues{State: i.State,
		Input: ideafile.InstanceViewOf(i.Idea.Context, doneCall.Instance).PayloadByKind[ideafile.TypeInput]}
	call, err := u.archive.describeCall(blobs.ForProcess(ctx, u.Process), w, tool, params, doneCall.Instance,
		instanceValues)
	if err != nil { // a value that the store cannot load is shown by its name
		call = w.Call(tool, params, doneCall.Instance, instanceValues, LanguageOf(ctx))
	}
	return call
}

// undoID returns the id of the nth process that undoes another.
func undoID(id string, n int) string {
	suffix := fmt.Sprintf("-undo-%d", n)
	id = strings.ReplaceAll(strings.ReplaceAll(id, "/~", "~"), "/", "~")
	return spelling.ShortenID(id, id, maxIDBytes-len(suffix)) + suffix
}

// checkIDUnused refuses an id for the undoing process that is invalid or in use.
func (u *Undoing) checkIDUnused(ctx context.Context) error {
	if err := ValidateID(u.UndoID); err != nil {
		return err
	}
	last, err := u.archive.Chain(u.UndoID).Length(ctx)
	if err == nil && last > 0 {
		err = u.idInUseError()
	}
	return err
}

func (u *Undoing) idInUseError() error {
	return kind.Errorf(ErrOtherStart, "undo %s as %s: another process has this id: choose another one, or leave it out",
		u.Process, u.UndoID)
}

func (u *Undoing) instance(c undo.Call) *backtest.ExecutedInstance {
	return u.instanceByKey[[2]string{c.ProcessID, c.Instance}]
}

// tool finds the Tool that undoes a Call.
func (u *Undoing) tool(c undo.Call, name string) *ideafile.Tool {
	return u.instance(c).Idea.Tool(name)
}

// annotateCalls adds to the Calls what the chains of the process, its parts and other processes say about them.
func (u *Undoing) annotateCalls(ctx context.Context, instances []backtest.ExecutedInstance,
	undoneByKey map[ideafile.UndoneCall]UndoneCall) (calls []undo.Call, err error) {
	callerUndoText := ""
	if !u.ProcessIsOpen && !u.options.isForDelegate {
		if callerUndoText, err = u.archive.describeCallerUndo(ctx, u.Process, u.options.Tools); err != nil {
			return nil, err
		}
	}
	endIdeas, origins := map[string]map[ideafile.CallStatus]map[string]int{}, map[string]forkOrigin{}
	bindings := map[string]map[string]ideafile.ToolBinding{}
	for n := range instances {
		i := &instances[n]
		u.instanceByKey[[2]string{i.ProcessID, i.Token}] = i
		if endIdeas[i.ProcessID] == nil {
			c := u.archive.Chain(i.ProcessID)
			if endIdeas[i.ProcessID], err = c.firstEndIdeaByCall(ctx); err == nil {
				origins[i.ProcessID], err = c.readForkOrigin(ctx, i.Idea)
			}
			if err != nil {
				return nil, err
			}
			bindings[i.ProcessID] = u.options.Tools.Bind(i.Idea)
		}
		for _, c := range i.Calls {
			byStatus := endIdeas[i.ProcessID]
			c.IdeaNumber = u.wholeIdeaNumber(i.ProcessID,
				cmp.Or(byStatus[ideafile.Done][c.ID], byStatus[ideafile.Failed][c.ID]))
			c.UndoneWithCallID = callerUndoText
			c.UndoneByProcess = undoneByKey[ideafile.UndoneCall{ProcessID: c.ProcessID, CallID: c.ID}].UndoID
			c.RanByProcessID, c.MustWaitForOthers = origins[i.ProcessID].originOfCall(c), u.ProcessIsOpen && i.HasEnded
			if c.RanByProcessID != "" {
				c.UndoneByProcess = cmp.Or(c.UndoneByProcess, origins[i.ProcessID].undoneByCallID[c.ID].UndoID)
			}
			if t := i.Idea.Tool(c.Tool); t != nil {
				c.UndoMethod = u.undoMethod(c, t, bindings[i.ProcessID][t.Name])
				if t.DelegateFile != "" {
					err = u.readDelegate(ctx, &c)
				}
			} else {
				c.UndoMethod.Kind = ideafile.UndoImpossible
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
	c.DelegateProcessID = protocol.DelegateID(c.ProcessID, c.ID)
	switch {
	case c.UndoneByProcess+c.RanByProcessID != "":
		return nil
	case c.UndoMethod.Kind == ideafile.UndoByTool:
		undone, _, err := u.archive.Chain(c.DelegateProcessID).undoneCalls(ctx)
		for _, one := range undone {
			if one.UndoID != c.DelegateProcessID { // the delegate may have redone what it has undone itself
				c.UndoneByProcess = one.UndoID
			}
		}
		return err
	case c.UndoMethod.Kind != ideafile.UndoByProcess || u.options.ProcessIsOpen:
		return nil
	}
	delegateUndo, err := u.archive.Undo(ctx, c.DelegateProcessID,
		UndoOptions{Tools: u.options.Tools, Actor: u.options.Actor, Review: u.options.Review, isForDelegate: true})
	if errors.Is(err, ErrNotFound) && !c.RanSuccessfully {
		c.UndoMethod.Kind = ideafile.UndoNotNeeded // it had done nothing yet
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) {
		return nil
	}
	if err == nil {
		c.DelegateUndo = &undo.DelegateUndo{ProcessID: c.DelegateProcessID, Plan: delegateUndo.Plan}
		u.delegateIdeas[undoIdeaKey(c.DelegateProcessID)] = delegateUndo.idea
	}
	return err
}

// describeCallerUndo names the Call that ran a process, directly or through other processes, if its Tool has an undo of
// its own. Then the process is undone with that Call, and not separately, which would use another key. Empty: there is
// no such Call.
func (a *Archive) describeCallerUndo(ctx context.Context, id string, tools ideafiles.Tools) (string, error) {
	caller, call, err := a.callerOf(ctx, spelling.WholeProcessID(id))
	if caller == "" || err != nil {
		return "", err
	}
	run, err := a.FinishedRun(ctx, caller, "undo")
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) {
		return "", nil
	}
	var instances []backtest.ExecutedInstance
	if err == nil {
		instances, err = backtest.ReadExecutedInstances(run)
	}
	for _, i := range instances {
		for _, c := range i.Calls {
			t := i.Idea.Tool(c.Tool)
			if t == nil || !c.RanSuccessfully || ideafile.TypeableCallID(c.ID) != call {
				continue
			}
			if method := t.UndoWithBinding(tools.Bind(i.Idea)[t.Name]); method.Kind == ideafile.UndoByTool {
				return fmt.Sprintf("%s of %s, by %s", c.Name(), caller, method.Tool), nil
			}
		}
	}
	if err != nil {
		return "", err
	}
	return a.describeCallerUndo(ctx, caller, tools)
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

// undoIdeaKey returns the key, among the files of delegates, of the Idea that undoes a process.
func undoIdeaKey(process string) string { return strings.ReplaceAll(process, "/", "~") }

// latestByPart returns the number of the latest Idea of each part in an Idea of a split process.
func latestByPart(idea jsonval.Object) map[string]int {
	latest := map[string]int{}
	for _, part := range jsonval.AsList(jsonval.Lookup(idea, "meta", "parts")) {
		fields := jsonval.AsObject(part)
		latest[jsonval.AsText(fields["process"])], _ = jsonval.ReadPositiveInt(fields["at"])
	}
	return latest
}

// wholeIdeaNumber returns the first Idea of the whole process that includes an Idea of its part; for a process that was
// not split, the Idea itself.
func (u *Undoing) wholeIdeaNumber(part string, number int) int {
	if part == u.Process || number == 0 {
		return number
	}
	index := slices.IndexFunc(u.latestIdeaByPart, func(latest map[string]int) bool { return latest[part] >= number })
	if index < 0 {
		index = len(u.latestIdeaByPart) // it ended before it could report
	}
	return index + 1
}

// undoMethod returns how to undo a Call of a Tool. With workers elsewhere, a Tool that nothing runs here may be a Go
// function there. Only the Call itself shows that the LLM wrote its result.
func (u *Undoing) undoMethod(c undo.Call, t *ideafile.Tool, b ideafile.ToolBinding) ideafile.Undo {
	if b.Kind == ideafile.KindLatent && u.options.Tools.OtherWorkers && !c.IsWrittenByLLM && t.Undo == nil {
		return ideafile.Undo{Kind: ideafile.UndoImpossible}
	}
	return t.UndoWithBinding(b)
}

// firstEndIdeaByCall maps each Call of the chain to the first Idea that shows it as done, or as failed.
func (c *Chain) firstEndIdeaByCall(ctx context.Context) (map[ideafile.CallStatus]map[string]int, error) {
	firstIdeas := map[ideafile.CallStatus]map[string]int{ideafile.Done: {}, ideafile.Failed: {}}
	last, err := c.checkIdeaNumber(ctx, "undo", 0)
	for number := 1; number <= last && err == nil; number++ {
		record := func(status ideafile.CallStatus, id string) {
			if reported := firstIdeas[status]; reported != nil && reported[id] == 0 {
				reported[id] = number
			}
		}
		var log []turn.LogEntry
		if log, err = c.chainStore.LogWithHandlesAt(ctx, c.process, number); err != nil {
			break
		}
		for _, e := range log {
			if e.IsWrite() && e.CorrectionNumber == 0 {
				record(ideafile.Done, ideafile.FormatCallID(e.Request, e.Index, e.Instance))
			}
		}
		var link chain.Link
		var context any
		if link, err = c.chainStore.LinkAt(ctx, c.process, number); err == nil {
			context, err = c.chainStore.Context(ctx, c.process, protocol.IdeaRef{Idea: number, Digest: link.Digest})
		}
		if err == nil {
			idea, _ := ideafile.ReadIdeaWithoutCheckingTools(jsonval.Object{"context": context})
			forEachRecordedCall(idea, func(p turn.RecordedCall, token string) {
				record(p.StatusByInstance[token], p.CallKey().ID(token))
			})
		}
	}
	return firstIdeas, err
}
