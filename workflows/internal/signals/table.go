package signals

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/workflows/internal/mailbox"
)

// ProcessHandler handles people's signals to a process. The error of a method is why the signal changed nothing; it is
// kept among the refusals.
type ProcessHandler interface {
	// Decide passes a decision on, payload unchanged, to the instance that it is about.
	Decide(ctx workflow.Context, payload jsonval.Object, d approval.Decision) error
	// DecideMany passes each of many decisions on, as Decide does. A refused decision does not affect the others.
	DecideMany(ctx workflow.Context, many approval.DecisionBatch) error
	Pause(ctx workflow.Context, s approval.SteeringPayload) error
	Resume(ctx workflow.Context, s approval.SteeringPayload) error
	Revise(ctx workflow.Context, s approval.SteeringPayload) error
	AddInstances(ctx workflow.Context, s approval.SteeringPayload) error
	Undo(ctx workflow.Context, s approval.SteeringPayload) error
	// Allow takes a standing order or a deputy. Disallow ends the order or deputy with this id.
	Allow(ctx workflow.Context, o approval.StandingOrder) error
	Disallow(ctx workflow.Context, standingOrderID string, s approval.SteeringPayload) error
	// DecidePlan takes a decision on a Plan that waits as a whole, or passes it on.
	DecidePlan(ctx workflow.Context, payload jsonval.Object, d approval.Decision) error
}

// signalKinds holds every kind of signal from people, in the order in which the Temporal UI shows them. Handlers are
// registered in this order, which replays depend on: a new kind goes to the end.
var signalKinds = []signalKind{
	decisionSignal(policy.Approve, `Run a Call that waits, as shown: {"call", "digest"?, "by"?, "reason"?, "proof"?}.`),
	decisionSignal(policy.Reject,
		`Do not run a Call that waits: {"call", "reason", "digest"?, "by"?, "proof"?}. The reason goes to the LLM.`),
	decisionSignal(policy.Amend,
		`Run a Call that waits with other parameters: {"call", "params", "digest"?, "by"?, "reason"?, "proof"?}.`),
	decisionSignal(policy.Replace,
		`Put another Call in the place of one that waits: {"call", "with": {"_tool", …}, "digest"?, "by"?, "reason"?, "proof"?}.`),
	decisionSignal(policy.Answer,
		`Give the result of a Call that waits; nothing runs: {"call", "output", "digest"?, "by"?, "reason"?, "proof"?}.`),
	decisionSignal(approval.Comment,
		`Say something about a Call that waits, for whoever decides: {"call", "reason", "by"}.`),
	decisionSignal(approval.Ask,
		`Ask somebody about a Call that waits: {"call", "reason", "by", "to"? or "toGroup"?, "forRequest"?}; `+
			`without to and toGroup, who started it.`),
	decisionSignal(approval.HandOver,
		`Have a person or a group decide on a Call that waits: {"call", "to" or "toGroup", "by", "reason"?}.`),

	steeringSignal(approval.SteerPause, `Let running Calls finish and start nothing new: {"by"?, "reason"?}.`,
		ProcessHandler.Pause),
	steeringSignal(approval.SteerResume,
		`Go on: {"by"?, "reason"?, "limits"?: {"requests", "tokens", "calls", "duration"}}.`, ProcessHandler.Resume),
	steeringSignal(approval.SteerRevise,
		`Correct the process: {"context": [messages], "limits"?, "by"?, "reason"?}. It makes a new Idea.`,
		ProcessHandler.Revise),
	steeringSignal(approval.SteerAddInstances, `Add instances: {"context": [messages with a new _instance], "by"?, "reason"?}.`,
		ProcessHandler.AddInstances),
	steeringSignal(approval.SteerUndo,
		`Take back what a paused process did: {"call" or "calls"?, "instance"?, "by"?, "reason"?}.`, ProcessHandler.Undo),

	typedSignal(approval.SteerDecideMany,
		`Decide on many Calls that wait, up to 1,000: {"decisions": [{"call", "decision", "digest"?, …}], "by"?, "groups"?, "reason"?}.`,
		approval.ReadDecisionBatch, ProcessHandler.DecideMany),
	typedSignal(approval.SteerGiveStandingOrder,
		`Give leave beforehand: {"id", "tool", "when"?: schema of the parameters, "count"?, "until"?, "by"?, "groups"?, "reason"?, "proof"?}.`,
		approval.ReadStandingOrder, ProcessHandler.Allow),
	{approval.SteerDeputy,
		`Have somebody decide in one's place for a time: {"id", "to", "until", "from"?, "by"?, "groups"?, "reason"?, "proof"?}.`,
		handleDeputy, true},
	{approval.SteerEndStandingOrder, `End what allow or deputy gave: {"order": its id, "by"?, "reason"?}.`,
		handleDisallow, false},

	planSignal(approval.SteerApprovePlan,
		`Run a Plan that waits, as shown: {"request", "digest"?, "by"?, "groups"?, "reason"?, "proof"?}.`),
	planSignal(approval.SteerAmendPlan,
		`Run a Plan that waits with other Calls: {"request", "calls": all of them, "digest"?, "by"?, "reason"?, …}.`),
	planSignal(approval.SteerRejectPlan,
		`Run nothing of a Plan that waits: {"request", "reason", "digest"?, "by"?, …}. The reason goes to the LLM.`),
}

// signalKind is one kind of signal from people.
type signalKind struct {
	name, description string
	// handle reads the payload and has a process handle it.
	handle func(p ProcessHandler, ctx workflow.Context, payload jsonval.Object) error
	// isDecision: the signal is a decision on a Call, which instances handle too.
	isDecision bool
}

func decisionSignal(name, description string) signalKind {
	return signalKind{name, description, func(p ProcessHandler, ctx workflow.Context, payload jsonval.Object) error {
		d, err := readDecision(ctx, name, payload)
		if err != nil {
			return err
		}
		return p.Decide(ctx, payload, d)
	}, true}
}

// readDecision reads the payload of a decision's signal.
func readDecision(ctx workflow.Context, kind string, payload jsonval.Object) (approval.Decision, error) {
	if payload["proof"] != nil && !mailbox.IsPatched(ctx, "proofs of decisions") {
		return approval.Decision{}, errors.New(`unknown key "proof"`)
	}
	return approval.ReadDecision(kind, payload)
}

func steeringSignal(name, description string,
	steer func(ProcessHandler, workflow.Context, approval.SteeringPayload) error) signalKind {
	return typedSignal(name, description, func(payload jsonval.Object) (approval.SteeringPayload, error) {
		return approval.ReadSteering(name, payload)
	}, steer)
}

// typedSignal is a kind of signal with a typed payload.
func typedSignal[T any](name, description string, readPayload func(jsonval.Object) (T, error),
	handle func(ProcessHandler, workflow.Context, T) error) signalKind {
	return signalKind{name, description, func(p ProcessHandler, ctx workflow.Context, payload jsonval.Object) error {
		v, err := readPayload(payload)
		if err != nil {
			return err
		}
		return handle(p, ctx, v)
	}, false}
}

func planSignal(name, description string) signalKind {
	return signalKind{name, description, func(p ProcessHandler, ctx workflow.Context, payload jsonval.Object) error {
		d, err := approval.ReadPlanDecision(name, payload)
		if err != nil {
			return err
		}
		return p.DecidePlan(ctx, payload, d)
	}, false}
}

// handleDeputy takes a deputy for the process. If the payload names a Call, it passes the deputy on to the Call's
// instance.
func handleDeputy(p ProcessHandler, ctx workflow.Context, payload jsonval.Object) error {
	if payload["call"] != nil {
		return decisionSignal(approval.SteerDeputy, "").handle(p, ctx, payload)
	}
	return typedSignal("", "", approval.ReadDeputyOrder, ProcessHandler.Allow).handle(p, ctx, payload)
}

func handleDisallow(p ProcessHandler, ctx workflow.Context, payload jsonval.Object) error {
	standingOrderID, s, err := approval.ReadStandingOrderEnd(payload)
	if err != nil {
		return err
	}
	return p.Disallow(ctx, standingOrderID, s)
}

// RegisterProcessSignals has a process handle every signal of the table.
func RegisterProcessSignals(ctx workflow.Context, b *mailbox.Inbox, p ProcessHandler) {
	for _, s := range signalKinds {
		handle := func(ctx workflow.Context, payload jsonval.Object) (approval.VoteCount, error) {
			return approval.VoteCount{}, s.handle(p, ctx, payload)
		}
		mailbox.OnPersonSignal(b, ctx, s.name, s.description, handle)
	}
}

// RegisterInstanceSignals has an instance handle decisions, and refuse what steers: that goes to its process.
func RegisterInstanceSignals(
	ctx workflow.Context, b *mailbox.Inbox, processID string,
	decide func(workflow.Context, approval.Decision) (approval.VoteCount, error),
) {
	for _, s := range signalKinds {
		description := "Send it to the process, not to an instance."
		handle := func(workflow.Context, jsonval.Object) (approval.VoteCount, error) {
			return approval.VoteCount{}, fmt.Errorf("%s goes to the process, %s", s.name, processID)
		}
		if s.isDecision {
			description = s.description
			handle = func(ctx workflow.Context, payload jsonval.Object) (approval.VoteCount, error) {
				d, err := readDecision(ctx, s.name, payload)
				if err != nil {
					return approval.VoteCount{}, err
				}
				return decide(ctx, d)
			}
		}
		mailbox.OnPersonSignal(b, ctx, s.name, description, handle)
	}
}
