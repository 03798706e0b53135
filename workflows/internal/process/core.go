package process

import (
	"cmp"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/delegate"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/quality"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/workflows/internal/display"
	"processidea/workflows/internal/mailbox"
	"processidea/workflows/internal/orders"
)

// processCore is common to an ordinary process and one that is split into parts.
type processCore struct {
	processID, firstRunID string

	variant     processVariant          // what this kind of process does in its own way
	logDecision func(approval.Decision) // logs what somebody decided on the whole process
	// isPatched is mailbox.IsPatched
	isPatched func(change string) bool

	start protocol.ProcessStart
	idea  *ideafile.Idea        // with every correction
	setup protocol.RequestSetup // what all Requests share
	// recommendedSize is how many instances a Request covers, given the bound Tools, including those of MCP servers
	recommendedSize quality.RequestSize
	// preparedTools is the worker's check of the Tools from before the process was split. It is nil without one, and
	// once used.
	preparedTools *protocol.PrepareResult

	inbox  *mailbox.Inbox
	outbox *mailbox.Outbox

	phase                 phase
	pendingMCPServerNames []string    // MCP servers that are being asked for their tools
	outcome               loop.Status // how it ended; set when the phase becomes over
	isOrphaned            bool        // a process that it belongs to is gone: it ends as if it were cancelled

	CarriedCore
	orders                *orders.Keeper
	loopIterations        int       // of the main loop, in this run of the workflow
	continueAsNewDueSince time.Time // since when it should continue as new and does not; zero: it need not

	requestNumberInFlight int          // the number of the Request in flight; 0: none
	requestHoldUp         *turn.HoldUp // what the Request waits for; nil: nothing unusual
	lastLoggedStatus      loop.Status  // the last status in the log; empty: none yet
}

// processVariant is what an ordinary process and a split one do differently.
type processVariant interface {
	// pauseReason is why the process is paused; nil if it is not paused.
	pauseReason() *diag.Fault
	// pauseWithFault pauses the process for a reason of its own, unless it is paused already.
	pauseWithFault(f *diag.Fault)
	// showStarting shows a process that has no instances yet.
	showStarting(ctx workflow.Context)
	// registerHandlers registers the handlers of signals and queries.
	registerHandlers(ctx workflow.Context) error
	// beginFirstRun begins the process, in its first run.
	beginFirstRun(ctx workflow.Context) error
	// run is the main loop, from the first Request or part to the result; cancel ends the process as cancelled.
	run(ctx workflow.Context) (*loop.ProcessResult, error)
	cancel(ctx workflow.Context) error

	pause(ctx workflow.Context, s approval.SteeringPayload)
	// resume reports whether anything was paused.
	resume(ctx workflow.Context, s approval.SteeringPayload) bool
	// revise applies a correction, whose messages it may respell; add returns the new instances. Both return the new
	// Idea. If they return an error, nothing has changed.
	revise(ctx workflow.Context, s *approval.SteeringPayload) (*ideafile.Idea, error)
	addInstances(s approval.SteeringPayload) (*ideafile.Idea, []string, error)
	// undo makes instances undo what they did.
	undo(ctx workflow.Context, s approval.SteeringPayload) error

	instanceTokens() []string
	// ownerOf finds the instance or the part that a Call belongs to, and the reason for refusing a decision that nobody
	// receives. For an unknown Call, the error proposes others, which takes long. briefly is called only then; if it
	// returns true, the error proposes none. briefly may be nil.
	ownerOf(call string, briefly func() bool) (owner, refusal string, err error)
	// receiverOf is the workflow that decisions on a Call are sent to. bypassesPart is whether decisions go past the
	// Call's part.
	receiverOf(owner, call string) (to string, bypassesPart bool)
	// forwardDecisions sends some of many decisions to their instances or parts.
	forwardDecisions(ctx workflow.Context, many approval.DecisionBatch, some []routedDecision)
	// applyStandingOrders approves the waiting Calls that standing orders cover.
	applyStandingOrders(ctx workflow.Context)
}

// phase is where a process is in its life; see the package doc.
type phase int

const (
	phaseOpening phase = iota // its Tools are being looked up; no instance and no part has started
	phaseRunning              // instances or parts work
	phaseOver                 // outcome says how it ended
)

// readIdea reads the Idea that a process starts from. It moves the files of delegates to the process, and adds the
// content of its instructions. Tools and delegates are checked when the Tools are bound.
func readIdea(start *protocol.ProcessStart, processID string) (*ideafile.Idea, error) {
	var fileProblems diag.Problems
	start.Idea, start.Delegation.Files, fileProblems = delegate.ExtractFiles(start.Idea, start.Delegation.Files)
	start.Idea = delegate.WithInstructions(start.Idea, start.Delegation.FileKey, start.Delegation.Files)
	start.Idea = policy.WithStarters(start.Idea, start.Starters(processID))
	start.Idea = ideafile.WithQualitySeed(start.Idea, quality.NewSeed(processID))
	idea, problems := ideafile.ReadIdeaWithoutCheckingTools(start.Idea)
	problems.Append(fileProblems...)
	for _, person := range start.Starters(processID) {
		if err := policy.CheckPersonName(person.Name); person.Name != "" && err != nil {
			problems.Add("$.meta.startedBy", "%s", err)
		}
	}
	return idea, invalidIdeaError(problems)
}

// invalidIdeaError fails a process whose Idea has errors; nil if it has none.
func invalidIdeaError(problems diag.Problems) error {
	if errs := problems.Errors(); len(errs) > 0 {
		return temporal.NewNonRetryableApplicationError(errs.Error(), turn.CodeInvalidIdea, nil, errs)
	}
	return nil
}

func newCore(
	ctx workflow.Context, inbox *mailbox.Inbox, start protocol.ProcessStart, idea *ideafile.Idea,
) *processCore {
	info, outbox := workflow.GetInfo(ctx), mailbox.NewOutbox(inbox)
	inbox.SendsReports = start.Part != nil
	c := &processCore{
		processID: info.WorkflowExecution.ID, firstRunID: info.FirstRunID, start: start,
		setup: protocol.RequestSetup{ScriptedReplies: start.ScriptedReplies}, inbox: inbox, outbox: outbox,
		orders:    orders.New(start.Part, inbox, outbox),
		isPatched: func(change string) bool { return mailbox.IsPatched(ctx, change) },
	}
	c.setIdea(idea)
	return c
}

// setIdea replaces the current Idea. Its meta stays that of the start, which records who caused what.
func (c *processCore) setIdea(idea *ideafile.Idea) {
	c.idea = idea.WithMeta(c.start.Idea["meta"])
	c.setup.Idea = c.idea.Source
}

// recordCauser records who has added or revised instances; the token "" stands for all. The start carries the record
// into later runs.
func (c *processCore) recordCauser(person policy.Identity, instanceTokens ...string) {
	c.start.Idea = policy.WithCauser(c.start.Idea, person, instanceTokens...)
	c.setIdea(c.idea)
}

// recordCausers is recordCauser for the people that an instance reports.
func (c *processCore) recordCausers(instanceToken string, people []policy.Identity) {
	for _, person := range people {
		if !slices.Contains(policy.ReadCausers(c.idea.Source, instanceToken), person) {
			c.recordCauser(person, instanceToken)
		}
	}
}

// recordReviser is recordCauser for the instances that messages are about. New limits alone cause no Call.
func (c *processCore) recordReviser(s approval.SteeringPayload) {
	var tokens []string
	for _, message := range s.Context {
		tokens = append(tokens, jsonval.AsText(jsonval.AsObject(message)["_instance"]))
	}
	if tokens != nil {
		c.recordCauser(s.Identity(), tokens...)
	}
}

// causersOf lists who has added or revised any of these instances. Without tokens, it is about the only instance.
func (c *processCore) causersOf(instanceTokens []string) []policy.Identity {
	list := policy.ReadCausers(c.idea.Source, "")
	for _, token := range instanceTokens {
		list = append(list, policy.ReadCausers(c.idea.Source, token)...)
	}
	return list
}

// processRef identifies the process across its runs.
func (c *processCore) processRef() protocol.ProcessRef {
	return protocol.ProcessRef{ID: c.processID, FirstRunID: c.firstRunID}
}

// markEnded notes that the process is over.
func (c *processCore) markEnded(outcome loop.Status) {
	c.phase, c.outcome, c.ReportedHoldUps = phaseOver, outcome, nil
}

// markCancelled notes, and shows, that the process is over since it was cancelled.
func (c *processCore) markCancelled(ctx workflow.Context) {
	c.markEnded(loop.StatusCancelled)
	c.logStatus(ctx, loop.StatusCancelled, nil)
	c.setSearchAttributes(ctx, string(loop.StatusCancelled), 0)
}

// status is the process's status, given why it is paused; nil if it is not paused.
func (c *processCore) status(pauseFault *diag.Fault) loop.Status {
	if c.phase != phaseOver && pauseFault != nil {
		return loop.StatusPaused
	}
	return cmp.Or(c.outcome, loop.StatusRunning)
}

// oversight is the process's addition to the approval policies of the Tools.
func (c *processCore) oversight() policy.Oversight {
	o := c.idea.Config.ApprovalOversight
	o.OuterOversights = c.start.Delegation.Oversight
	return o
}

// title is the name of the process in the Temporal UI.
func (c *processCore) title() string {
	title := cmp.Or(c.idea.ProcessPath, c.processID)
	if c.idea.Simulation != nil {
		title += " (simulated)"
	}
	return title
}

// setSearchAttributes keeps the search attributes up to date.
func (c *processCore) setSearchAttributes(ctx workflow.Context, status string, awaitingCount int) {
	a := display.SearchAttributes{AreRegistered: c.start.CanSetSearchAttributes}
	a.SetAwaitingCount(ctx, awaitingCount)
	a.SetStatus(ctx, status)
}

// recordSignalOutcome notes that an act of a person that was under way has taken effect, or is refused after all.
func (c *processCore) recordSignalOutcome(ctx workflow.Context, signalName string, s approval.SteeringPayload,
	refusal error) {
	c.inbox.RecordSignalOutcome(ctx, signalName, jsonval.Object{"id": s.ID, "by": s.SentBy}, refusal)
}
