package signals

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/workflows/internal/mailbox"
)

// Process is what people can ask of a process. The error that a method returns is why the signal changed nothing; it is kept
// among the refusals.
type Process interface {
	// Decide passes a decision on, payload unchanged, to the instance that it is about.
	Decide(ctx workflow.Context, kind string, payload map[string]any, d turn.Decision) error
	Pause(ctx workflow.Context, s loop.Steering) error
	Resume(ctx workflow.Context, s loop.Steering) error
	Revise(ctx workflow.Context, s loop.Steering) error
	AddInstances(ctx workflow.Context, s loop.Steering) error
}

// table holds every kind of signal from people, in the order in which the Temporal UI shows them.
var table = []signal{
	decisionSignal(ideafile.Approve, `Run a Call that waits, as shown: {"call", "digest"?, "by"?, "reason"?}.`),
	decisionSignal(ideafile.Reject, `Do not run a Call that waits: {"call", "reason", "digest"?, "by"?}. The reason goes to the LLM.`),
	decisionSignal(ideafile.Amend, `Run a Call that waits with other parameters: {"call", "params", "digest"?, "by"?, "reason"?}.`),
	decisionSignal(ideafile.Replace, `Put another Call in the place of one that waits: {"call", "with": {"_tool", …}, "digest"?, "by"?, "reason"?}.`),
	decisionSignal(ideafile.Answer, `Give the result of a Call that waits; nothing runs: {"call", "output", "digest"?, "by"?, "reason"?}.`),

	steeringSignal(loop.SteerPause, `Let running Calls finish and start nothing new: {"by"?, "reason"?}.`, Process.Pause),
	steeringSignal(loop.SteerResume, `Go on: {"by"?, "reason"?, "limits"?: {"requests", "tokens", "calls", "duration"}}.`, Process.Resume),
	steeringSignal(loop.SteerRevise, `Correct the process: {"context": [messages], "limits"?, "by"?, "reason"?}. It makes a new Idea.`, Process.Revise),
	steeringSignal(loop.SteerAdd, `Add instances: {"context": [messages with a new _instance], "by"?, "reason"?}.`, Process.AddInstances),
}

// signal is one kind of signal from people.
type signal struct {
	name, description string
	// handle reads the payload and has a process handle it.
	handle func(p Process, ctx workflow.Context, payload map[string]any) error
	// decides is whether it is a decision on a Call, which instances handle too.
	decides bool
}

func decisionSignal(kind, description string) signal {
	return signal{kind, description, func(p Process, ctx workflow.Context, payload map[string]any) error {
		d, err := turn.ReadDecision(kind, payload)
		if err != nil {
			return err
		}
		return p.Decide(ctx, kind, payload, d)
	}, true}
}

func steeringSignal(kind, description string, steer func(Process, workflow.Context, loop.Steering) error) signal {
	return signal{kind, description, func(p Process, ctx workflow.Context, payload map[string]any) error {
		s, err := loop.ReadSteering(kind, payload)
		if err != nil {
			return err
		}
		return steer(p, ctx, s)
	}, false}
}

// HearAtProcess has a process handle every signal of the table.
func HearAtProcess(ctx workflow.Context, b *mailbox.Inbox, p Process) {
	for _, s := range table {
		mailbox.OnPeople(b, ctx, s.name, s.description, func(ctx workflow.Context, payload map[string]any) error {
			return s.handle(p, ctx, payload)
		})
	}
}

// HearAtInstance has an instance handle decisions, and refuse what steers: that goes to its process.
func HearAtInstance(ctx workflow.Context, b *mailbox.Inbox, process string, decide func(workflow.Context, turn.Decision) error) {
	for _, s := range table {
		if s.decides {
			mailbox.OnPeople(b, ctx, s.name, s.description, func(ctx workflow.Context, payload map[string]any) error {
				d, err := turn.ReadDecision(s.name, payload)
				if err != nil {
					return err
				}
				return decide(ctx, d)
			})
			continue
		}
		mailbox.OnPeople(b, ctx, s.name, "Send it to the process, not to an instance.", func(workflow.Context, map[string]any) error {
			return fmt.Errorf("%s goes to the process, %s", s.name, process)
		})
	}
}
