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
	undo.Selection
	// Tools says which Tools are pure, and how to undo Go functions.
	Tools ideafiles.WorkerTools
	// UndoProcessID names the process that undoes the Calls; empty: ID-undo-1, or the next number.
	UndoProcessID string
	// IsProcessOpen is set if the process has not ended: it undoes its Calls itself, once it is paused.
	IsProcessOpen bool
	// Actor is who orders the undo, and why.
	Actor Actor
	// ReviewsUndoCalls makes each undoing Call wait for a person, who approves, answers or rejects it.
	ReviewsUndoCalls bool
	// WaitLimit is how long StartUndo waits for a process that undoes its Calls itself. 0: until it has done so, a
	// person must decide, or the context is about to end.
	WaitLimit time.Duration
	// isForDelegate is set for a process that is undone with the Call that ran it.
	isForDelegate bool
}

// UndoPlan is a plan to undo what a process did. Client.StartUndo runs it.
type UndoPlan struct {
	ProcessID string `json:"process"`
	// UndoProcessID is the id of the process that undoes it; with IsProcessOpen, the process's own id.
	UndoProcessID string `json:"as"`
	IsProcessOpen bool   `json:"atWork,omitempty"`
	// IsUnderWay is set by StartUndo if an open process has not undone everything yet. WaitingCallIDs lists its undoing
	// Calls that wait for a person.
	IsUnderWay     bool     `json:"underWay,omitempty"`
	WaitingCallIDs []string `json:"waits,omitempty"`
	undo.Plan

	archive               *Archive
	options               UndoOptions
	undoNumber            int // of UndoProcessID; 0: UndoProcessID was chosen by the caller
	undoIdea              map[string]any
	executedInstanceByKey map[[2]string]*backtest.ExecutedInstance // by process or part, and token
	// by Idea of a split process: the latest Idea of each part
	partIdeaNumbersByIdea []map[string]int
	// the Ideas that undo the processes of Calls, by undoIdeaKey
	delegateUndoIdeas map[string]any
}

// PlanUndo plans, from the chain of a process, how to undo what it did: the Calls that undo it, what cannot be undone
// and why, and what stays because something reads it. It changes nothing. The error wraps ErrNotFound if there is no
// such process or Idea, ErrForgotten if it was forgotten, and ErrInvalid if a selected Call or instance does not exist,
// or the process was simulated. It is a *RefusedError if a selected Call is not done.
func (a *Archive) PlanUndo(ctx context.Context, id string, o UndoOptions) (*UndoPlan, error) {
	u, ideas, calls, err := a.readCallsForUndo(ctx, id, o)
	if err == nil && !o.isForDelegate {
		err = u.markReadsInForks(ctx, calls)
	}
	if err == nil && !o.isForDelegate && !o.IsProcessOpen { // what runs has given nothing yet
		err = u.markReadsByCaller(ctx, calls)
	}
	if err != nil {
		return nil, err
	}
	o.Selection.RequiresReview = o.ReviewsUndoCalls
	u.Plan, err = undo.PlanUndo(calls, o.Selection, u.tool, func(c undo.Call) any { return u.instance(c).State })
	if kind.Is[approval.NothingToDoError](err) {
		return nil, undoRefusedError(id, err.Error())
	}
	if err != nil {
		return nil, kind.Errorf(ErrInvalid, "undo %s: %w", id, err)
	}
	switch {
	case o.IsProcessOpen && o.UndoProcessID != "":
		return nil, undoesItselfError(id, o.UndoProcessID)
	case o.IsProcessOpen:
		u.UndoProcessID = id
	case o.UndoProcessID != "":
		u.UndoProcessID, u.undoNumber = o.UndoProcessID, 0
		if err := u.checkIDUnused(ctx); err != nil {
			return nil, err
		}
	}
	lastIdeaNumber := len(ideas)
	u.undoIdea, err = a.Chain(id).withPriorDecisions(ctx, u.newUndoIdea(ideas[lastIdeaNumber-1]), lastIdeaNumber)
	return u, err
}

// readCallsForUndo reads the Ideas of a process, and its Calls with all that is known about undoing them.
func (a *Archive) readCallsForUndo(ctx context.Context, id string, o UndoOptions) (u *UndoPlan, ideas []map[string]any,
	calls []undo.Call, err error) {
	recordedProcess, err := a.ReadProcessWithParts(ctx, id, "undo")
	if err != nil {
		return nil, nil, nil, err
	}
	if lastIdeaNumber := len(recordedProcess.Ideas); o.AfterIdeaNumber > lastIdeaNumber {
		return nil, nil, nil, kind.Errorf(ErrNotFound, "undo %s to Idea %d: there are %d", id, o.AfterIdeaNumber,
			lastIdeaNumber)
	}
	instances, err := backtest.ReadExecutedInstances(recordedProcess)
	if err != nil {
		return nil, nil, nil, kind.Errorf(ErrInvalid, "undo %s: %w", id, err)
	}
	undoneByKey, n, err := a.Chain(id).undoneCalls(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	u = &UndoPlan{ProcessID: id, UndoProcessID: nthUndoProcessID(id, n), IsProcessOpen: o.IsProcessOpen, archive: a,
		options:               o,
		undoNumber:            n,
		partIdeaNumbersByIdea: jsonval.Map(recordedProcess.Ideas, latestIdeaNumberByPart),
		executedInstanceByKey: map[[2]string]*backtest.ExecutedInstance{},
		delegateUndoIdeas:     jsonval.Object{}}
	calls, err = u.annotateCalls(ctx, instances, undoneByKey)
	return u, recordedProcess.Ideas, calls, err
}

// IsEmpty reports whether nothing would be undone. A Call that leaves State alone counts if it was selected by its
// id.
func (u *UndoPlan) IsEmpty() bool {
	return len(u.Steps) == 0 && (!u.IsProcessOpen || u.options.CallID == "" || len(u.CallIDsToWithdraw) == 0)
}

// DescribeCall describes, in the words of the business, an undone Call or the Call that undoes it.
func (u *UndoPlan) DescribeCall(ctx context.Context, presenter *shown.Presenter, doneCall *undo.Call, toolName string,
	params map[string]any) shown.Call {
	i := u.instance(*doneCall)
	instanceValues := shown.InstanceValues{State: i.State,
		Input: ideafile.InstanceViewOf(i.Idea.Context, doneCall.InstanceToken).PayloadByKind[ideafile.TypeInput]}
	call, err := u.archive.describeCall(blobs.WithProcess(ctx, u.ProcessID), presenter, toolName, params,
		doneCall.InstanceToken,
		instanceValues)
	if err != nil { // a value that the store cannot load is shown by its name
		call = presenter.Call(toolName, params, doneCall.InstanceToken, instanceValues, LanguageOf(ctx))
	}
	return call
}

// nthUndoProcessID returns the id of the nth process that undoes another.
func nthUndoProcessID(id string, n int) string {
	suffix := fmt.Sprintf("-undo-%d", n)
	id = strings.ReplaceAll(strings.ReplaceAll(id, "/~", "~"), "/", "~")
	return spelling.ShortenID(id, id, maxProcessIDBytes-len(suffix)) + suffix
}

// checkIDUnused refuses an id for the undoing process that is invalid or in use.
func (u *UndoPlan) checkIDUnused(ctx context.Context) error {
	if err := ValidateProcessID(u.UndoProcessID); err != nil {
		return err
	}
	lastIdeaNumber, err := u.archive.Chain(u.UndoProcessID).Length(ctx)
	if err == nil && lastIdeaNumber > 0 {
		err = u.idInUseError()
	}
	return err
}

func (u *UndoPlan) idInUseError() error {
	return kind.Errorf(ErrIDInUse, "undo %s as %s: another process has this id: choose another one, or leave it out",
		u.ProcessID, u.UndoProcessID)
}

func (u *UndoPlan) instance(c undo.Call) *backtest.ExecutedInstance {
	return u.executedInstanceByKey[[2]string{c.ProcessID, c.InstanceToken}]
}

// tool finds the Tool that undoes a Call.
func (u *UndoPlan) tool(c undo.Call, name string) *ideafile.Tool {
	return u.instance(c).Idea.Tool(name)
}

// annotateCalls adds to the Calls what the chains of the process, its parts and other processes say about them.
func (u *UndoPlan) annotateCalls(ctx context.Context, instances []backtest.ExecutedInstance,
	undoneByKey map[ideafile.UndoneCall]UndoneCall) (calls []undo.Call, err error) {
	callerUndoText := ""
	if !u.IsProcessOpen && !u.options.isForDelegate {
		if callerUndoText, err = u.archive.describeCallerUndo(ctx, u.ProcessID, u.options.Tools); err != nil {
			return nil, err
		}
	}
	callEndNumbersByProcess, forkOriginByProcess := map[string]map[ideafile.CallStatus]map[string]int{},
		map[string]forkOrigin{}
	bindingsByProcess := map[string]map[string]ideafile.ToolBinding{}
	for n := range instances {
		i := &instances[n]
		u.executedInstanceByKey[[2]string{i.ProcessID, i.Token}] = i
		if callEndNumbersByProcess[i.ProcessID] == nil {
			c := u.archive.Chain(i.ProcessID)
			if callEndNumbersByProcess[i.ProcessID], err = c.callEndIdeaNumbers(ctx); err == nil {
				forkOriginByProcess[i.ProcessID], err = c.readForkOrigin(ctx, i.Idea)
			}
			if err != nil {
				return nil, err
			}
			bindingsByProcess[i.ProcessID] = u.options.Tools.Bind(i.Idea)
		}
		for _, c := range i.Calls {
			endNumbersByStatus := callEndNumbersByProcess[i.ProcessID]
			c.FirstDoneIdeaNumber = u.wholeIdeaNumber(i.ProcessID,
				cmp.Or(endNumbersByStatus[ideafile.CallDone][c.ID], endNumbersByStatus[ideafile.CallFailed][c.ID]))
			c.UndoneWithCallID = callerUndoText
			c.UndoneByProcessID = undoneByKey[ideafile.UndoneCall{ProcessID: c.ProcessID, CallID: c.ID}].UndoID
			c.RanByProcessID, c.MustWaitForOtherInstances = forkOriginByProcess[i.ProcessID].originProcessID(c),
				u.IsProcessOpen &&
					i.HasEnded
			if c.RanByProcessID != "" {
				c.UndoneByProcessID = cmp.Or(c.UndoneByProcessID,
					forkOriginByProcess[i.ProcessID].undoneByCallID[c.ID].UndoID)
			}
			if t := i.Idea.Tool(c.Tool); t != nil {
				c.UndoMethod = u.undoMethod(c, t, bindingsByProcess[i.ProcessID][t.Name])
				if t.DelegateFile != "" {
					err = u.planDelegateUndo(ctx, &c)
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

// planDelegateUndo finds how to undo the process that a Call ran, if the Call is undone in that way and the process is
// on record. A running process cannot undo such a Call.
func (u *UndoPlan) planDelegateUndo(ctx context.Context, c *undo.Call) error {
	c.DelegateProcessID = protocol.DelegateID(c.ProcessID, c.ID)
	switch {
	case c.UndoneByProcessID+c.RanByProcessID != "":
		return nil
	case c.UndoMethod.Kind == ideafile.UndoByTool:
		undoneByKey, _, err := u.archive.Chain(c.DelegateProcessID).undoneCalls(ctx)
		for _, one := range undoneByKey {
			if one.UndoID != c.DelegateProcessID { // the delegate may have redone what it has undone itself
				c.UndoneByProcessID = one.UndoID
			}
		}
		return err
	case c.UndoMethod.Kind != ideafile.UndoByProcess || u.options.IsProcessOpen:
		return nil
	}
	delegateUndo, err := u.archive.PlanUndo(ctx, c.DelegateProcessID,
		UndoOptions{Tools: u.options.Tools, Actor: u.options.Actor, ReviewsUndoCalls: u.options.ReviewsUndoCalls,
			isForDelegate: true})
	if errors.Is(err, ErrNotFound) && !c.RanSuccessfully {
		c.UndoMethod.Kind = ideafile.UndoNotNeeded // it had done nothing yet
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) {
		return nil
	}
	if err == nil {
		c.DelegateUndo = &undo.DelegateUndo{ProcessID: c.DelegateProcessID, Plan: delegateUndo.Plan}
		u.delegateUndoIdeas[undoIdeaKey(c.DelegateProcessID)] = delegateUndo.undoIdea
	}
	return err
}

// describeCallerUndo names the Call that ran a process, directly or through other processes, if its Tool has an undo of
// its own. Then the process is undone with that Call, and not separately, which would use another key. Empty: there is
// no such Call.
func (a *Archive) describeCallerUndo(ctx context.Context, id string, tools ideafiles.WorkerTools) (string, error) {
	callerID, callID, err := a.callerOf(ctx, spelling.WholeProcessID(id))
	if callerID == "" || err != nil {
		return "", err
	}
	recordedProcess, err := a.ReadProcessWithParts(ctx, callerID, "undo")
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) {
		return "", nil
	}
	var instances []backtest.ExecutedInstance
	if err == nil {
		instances, err = backtest.ReadExecutedInstances(recordedProcess)
	}
	for _, i := range instances {
		for _, c := range i.Calls {
			t := i.Idea.Tool(c.Tool)
			if t == nil || !c.RanSuccessfully || ideafile.TypeableCallID(c.ID) != callID {
				continue
			}
			if method := t.EffectiveUndo(tools.Bind(i.Idea)[t.Name]); method.Kind == ideafile.UndoByTool {
				return fmt.Sprintf("%s of %s, by %s", c.Name(), callerID, method.Tool), nil
			}
		}
	}
	if err != nil {
		return "", err
	}
	return a.describeCallerUndo(ctx, callerID, tools)
}

// callerOf returns the process, or the part, whose Call ran a delegate, and the Call in its typeable form. In a long id
// a digest stands for the process; then the process is searched for in the store. Empty: id is no delegate's, or the
// process is not in the store.
func (a *Archive) callerOf(ctx context.Context, delegateID string) (processID, callID string, err error) {
	processID, callID = cutLast(delegateID, "/~call/")
	if callID == "" {
		return "", "", nil
	}
	if lastIdeaNumber, err := a.Chain(processID).Length(ctx); lastIdeaNumber > 0 || err != nil {
		return processID, callID, err
	}
	processIDs, err := a.ProcessIDs(ctx)
	n := slices.IndexFunc(processIDs, func(processID string) bool {
		return protocol.IsDelegateOf(delegateID,
			processID)
	})
	if n < 0 || err != nil {
		return "", "", err
	}
	return processIDs[n], callID, nil
}

// undoIdeaKey returns the key, among the files of delegates, of the Idea that undoes a process.
func undoIdeaKey(processID string) string { return strings.ReplaceAll(processID, "/", "~") }

// latestIdeaNumberByPart returns the number of the latest Idea of each part in an Idea of a split process.
func latestIdeaNumberByPart(idea jsonval.Object) map[string]int {
	latestNumberByPart := map[string]int{}
	for _, part := range jsonval.AsList(jsonval.Lookup(idea, "meta", "parts")) {
		fields := jsonval.AsObject(part)
		latestNumberByPart[jsonval.AsText(fields["process"])], _ = jsonval.ReadPositiveInt(fields["at"])
	}
	return latestNumberByPart
}

// wholeIdeaNumber returns the first Idea of the whole process that includes an Idea of its part; for a process that was
// not split, the Idea itself.
func (u *UndoPlan) wholeIdeaNumber(partID string, partIdeaNumber int) int {
	if partID == u.ProcessID || partIdeaNumber == 0 {
		return partIdeaNumber
	}
	index := slices.IndexFunc(u.partIdeaNumbersByIdea,
		func(latest map[string]int) bool { return latest[partID] >= partIdeaNumber })
	if index < 0 {
		index = len(u.partIdeaNumbersByIdea) // it ended before it could report
	}
	return index + 1
}

// undoMethod returns how to undo a Call of a Tool. With workers elsewhere, a Tool that nothing runs here may be a Go
// function there. Only the Call itself shows that the LLM wrote its result.
func (u *UndoPlan) undoMethod(c undo.Call, t *ideafile.Tool, b ideafile.ToolBinding) ideafile.UndoMethod {
	if b.Kind == ideafile.KindLatent && u.options.Tools.HasOtherWorkers && !c.HasLLMWrittenResult && t.Undo == nil {
		return ideafile.UndoMethod{Kind: ideafile.UndoImpossible}
	}
	return t.EffectiveUndo(b)
}

// callEndIdeaNumbers maps each Call of the chain to the first Idea that shows it as done, or as failed.
func (c *Chain) callEndIdeaNumbers(ctx context.Context) (map[ideafile.CallStatus]map[string]int, error) {
	firstNumbersByStatus := map[ideafile.CallStatus]map[string]int{ideafile.CallDone: {}, ideafile.CallFailed: {}}
	lastIdeaNumber, err := c.checkIdeaNumber(ctx, "undo", 0)
	for ideaNumber := 1; ideaNumber <= lastIdeaNumber && err == nil; ideaNumber++ {
		record := func(status ideafile.CallStatus, id string) {
			if numberByCallID := firstNumbersByStatus[status]; numberByCallID != nil && numberByCallID[id] == 0 {
				numberByCallID[id] = ideaNumber
			}
		}
		var log []turn.LogEntry
		if log, err = c.chainStore.LogWithHandlesAt(ctx, c.processID, ideaNumber); err != nil {
			break
		}
		for _, e := range log {
			if e.IsWrite() && e.CorrectionNumber == 0 {
				record(ideafile.CallDone, ideafile.FormatCallID(e.Request, e.Index, e.InstanceToken))
			}
		}
		var link chain.Link
		var ideaContext any
		if link, err = c.chainStore.LinkAt(ctx, c.processID, ideaNumber); err == nil {
			ideaContext, err = c.chainStore.IdeaContext(ctx, c.processID,
				protocol.IdeaRef{IdeaNumber: ideaNumber, Digest: link.Digest})
		}
		if err == nil {
			idea, _ := ideafile.ReadIdeaWithoutCheckingTools(jsonval.Object{"context": ideaContext})
			forEachRecordedCall(idea, func(p turn.RecordedCall, token string) {
				record(p.StatusByInstance[token], p.CallKey().ID(token))
			})
		}
	}
	return firstNumbersByStatus, err
}
