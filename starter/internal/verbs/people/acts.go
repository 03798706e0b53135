package people

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"processidea/client"
	"processidea/model/approval"
	"processidea/starter/internal/app"
)

// actionCommand is a verb by which people act on a process.
type actionCommand struct {
	name, argsUsage                  string
	short, long, example, helpSuffix string // if help is set, the long text is short followed by help
	addFlags                         func(*pflag.FlagSet, *actionOptions)
	// prepare reads the input, refuses what is invalid before anything is sent, and returns the action.
	prepare func(*actionOptions) (processAction, error)
	// runInsteadIfAsked does something else if the flags ask for it.
	runInsteadIfAsked func(context.Context, *app.App, *actionOptions) (done bool, err error)
}

// processAction acts on a process, and counts the deciders so far if several must decide.
type processAction = func(context.Context, *client.Process) (client.VoteCount, error)

var actionCommandTable = []actionCommand{
	{
		name: client.Approve, argsUsage: "ID CALL", short: "Let a Call that waits run, as it is shown",
		helpSuffix: decisionHelp,
		example: `  starter approve refund-17 1.2
  starter approve refunds 1.2@13 --digest 5f0c… --by ann`,
		addFlags: addDecisionFlags, prepare: prepareDecision,
	},
	{
		name: client.Reject, argsUsage: "ID CALL",
		short:      "Do not let a Call that waits run; the reason goes to the LLM",
		helpSuffix: decisionHelp,
		example:    `  starter reject refunds 1.2@13 --reason "not without a receipt"`,
		addFlags:   addDecisionFlags, prepare: prepareDecision,
	},
	{
		name: client.Amend, argsUsage: "ID CALL", short: "Let a Call that waits run with other parameters",
		helpSuffix: decisionHelp,
		example:    `  starter amend refunds 1.2@13 --params '{"values": {"cents": 25000}}' --reason "half of it"`,
		addFlags:   valueFlagAdder("params", "the parameters that change, as `JSON` or @file; null takes an optional one away"),
		prepare:    prepareDecision,
	},
	{
		name: client.Replace, argsUsage: "ID CALL", short: "Put another Call in the place of one that waits",
		helpSuffix: decisionHelp,
		example:    `  starter replace refunds 1.2@13 --with '{"_tool": "apologise", "values": {"order": "†state.order", "customer": "†state.customer"}}'`,
		addFlags:   valueFlagAdder("with", "the Call that takes its place, as `JSON` or @file"), prepare: prepareDecision,
	},
	{
		name: client.Answer, argsUsage: "ID CALL", short: "Give the result of a Call that waits; nothing runs",
		helpSuffix: decisionHelp,
		example:    `  starter answer refunds 1.2@13 --output '"paid by hand"' --reason "in the shop"`,
		addFlags:   valueFlagAdder("output", "the result, as `JSON` or @file"), prepare: prepareDecision,
	},
	{
		name: client.Comment, argsUsage: "ID CALL --text TEXT",
		short: "Say something about a Call that waits, for whoever decides",
		long: `Say something about a Call that waits. Whoever decides reads it beside the Call. It decides
nothing, and is recorded as decisions are.`,
		example:  `  starter comment refunds 1.2@13 --text "the customer has called twice" --by ann`,
		addFlags: remarkFlagAdder(false), prepare: prepareDecision,
	},
	{
		name: client.Ask, argsUsage: "ID CALL --text TEXT", short: "Ask somebody about a Call that waits",
		long: `Ask a person, a group, or whoever started the process about a Call that waits. It goes on
waiting. They answer with "comment".`,
		example:  `  starter ask refunds 1.2@13 --to bob --text "did it come back?" --by ann`,
		addFlags: remarkFlagAdder(true), prepare: prepareDecision,
	},
	{
		name: client.HandOver, argsUsage: "ID CALL --to NAME", short: "Let somebody else decide on a Call that waits",
		long: `Hand a Call that waits over to a person or a group: nobody else decides on it then. Whoever
may decide on it can hand it over, even again. The rules of its policy hold for the new
person too.`,
		example: `  starter hand-over refunds 1.2@13 --to bob --reason "on leave until Monday" --by ann
  starter hand-over refunds 1.2@13 --to-group finance --by ann`,
		addFlags: addHandOverFlags, prepare: prepareDecision,
	},
	{
		name:      approval.SteerDecideMany,
		argsUsage: "ID --approve|--reject [--tool NAME] [--where SCHEMA] [--call CALL …]",
		short:     "Approve or reject many Calls that wait, with one signal",
		long: `Approve or reject many Calls that wait, with one signal. A table shows them first: values
that are alike stand once, values that differ stand in columns, and a Call that is the same
in many instances is one row. Then it asks you to confirm, unless you give --yes. You decide
on what the table shows, and nothing else.

--where is a JSON Schema over the parameters, as they would run. ID may be an instance,
refunds/13. It waits until each decision is taken or refused, and says why one was
refused (exit 2). One signal decides on 1,000 Calls; if more fit, run it again.`,
		example: `  starter decide refunds --tool settle --where '{"properties": {"amount": {"maximum": 600}}}' --approve
  starter decide refunds --call 1.2@13 --call 1.2@19 --reject --reason "not without a receipt"
  starter decide refunds --tool settle --approve --by ann --group finance --yes --json`,
		addFlags: addSelectionFlags, runInsteadIfAsked: decideMany,
	},
	{
		name: approval.SteerGiveStandingOrder, argsUsage: "ID [ORDER] [--tool TOOL]",
		short: "Approve Calls of a Tool beforehand, by " +
			"a standing order",
		long: `Give leave beforehand, by a standing order. It approves Calls of a Tool that wait for a
person and fit, as if you approved each. It ends after --count Calls, or at --until. ORDER
is a name of your own (default: one is made up); "disallow" ends the order by it. You need
the right to decide on these Calls. Each approved Call names the order in its record.

It never covers a Call that a person has changed, nor one that somebody must look at for
another reason than the Tool's policy. With a key ("starter keys person") it is signed; it
must be if the Tool wants signed decisions. Without --tool the orders are listed.`,
		example: `  starter allow refunds small --tool settle --count 40 --until 2026-12-04T18:00:00Z \
    --when '{"properties": {"values": {"properties": {"cents": {"maximum": 60000}}}}}'
  starter allow refunds`,
		addFlags: addStandingOrderFlags, prepare: prepareStandingOrder, runInsteadIfAsked: listStandingOrders,
	},
	{
		name: approval.SteerDeputy, argsUsage: "ID [NAME] --to PERSON --until TIME",
		short: "Let somebody decide in your place for a time",
		long: `Let somebody decide in your place for a time, on Calls of a process that wait now or later.
They may decide what you may. Each such decision names you both, and for all rules you are
one person. The policy must allow a hand-over. NAME is a name of your own (default: one is
made up); "disallow" ends it early by that name, and "allow ID" lists it.`,
		example:  `  starter deputy refunds --to bob --until 2026-12-04T18:00:00Z --reason "on leave" --by ann`,
		addFlags: addDeputyFlags, prepare: prepareDeputy,
	},
	{
		name: approval.SteerEndStandingOrder, argsUsage: "ID ORDER",
		short:   "End a standing order, or a deputy's time; what was decided stays so",
		example: `  starter disallow refunds small --reason "the sale is over"`, addFlags: addAuthorFlags,
		prepare: asPrepareFunc(func(ctx context.Context, p *client.Process, g *actionOptions) error {
			return p.Disallow(ctx, g.args[1], g.actor())
		}),
	},
	{
		name: approval.SteerApprovePlan, argsUsage: "ID [REQUEST]", short: "Let a Plan that waits run, as it was shown",
		long: `Let a Plan that waits as a whole run as it was shown. The approval policies of its Tools
still apply: approving the Plan approves none of its Calls. REQUEST is the number of the
Request that made it, or 0 for a Plan that begins the process; leave it out if only one
Plan waits.`,
		example: `  starter approve-plan refund-17
  starter approve-plan refund-17 --digest 5f0c… --reason checked`,
		addFlags: addPlanFlags, prepare: preparePlanDecision,
	},
	{
		name: approval.SteerAmendPlan, argsUsage: "ID [REQUEST]",
		short: "Let a Plan that waits run with other Calls: some removed, changed or added",
		long: `Let a Plan that waits as a whole run with other Calls. --file holds all of them as a JSON
list, as "starter plan ID --calls" prints it. Each is checked like the LLM's Calls; if one
cannot run, nothing changes and you are told why. REQUEST is as with approve-plan.`,
		example: `  starter amend-plan refund-17 --file calls.json --reason "one is enough"
  starter plan refund-17 --calls > calls.json   # to begin with`,
		addFlags: addPlanFlags, prepare: preparePlanDecision,
	},
	{
		name: approval.SteerRejectPlan, argsUsage: "ID [REQUEST]",
		short: "Let nothing of a Plan run; the next Request reads why",
		long: `Let nothing run of a Plan that waits as a whole. The next Request reads why. A direct
Plan of stage "optimal" gives way to the LLM; one of stage "complete" fails its
instances. REQUEST is as with approve-plan.`,
		example:  `  starter reject-plan refund-17 --reason "ask the customer first"`,
		addFlags: addPlanFlags, prepare: preparePlanDecision,
	},
	{
		name: approval.SteerPause, argsUsage: "ID",
		short: "Let the running Calls of a process finish and start nothing new",
		long: `Let the running Calls of a process finish and start nothing new, until "resume".
Decisions are taken in the meantime; what they let run starts when the process goes on.`,
		example: `  starter pause refunds --reason "the bank is closed"`, addFlags: addAuthorFlags,
		prepare: asPrepareFunc(func(ctx context.Context, p *client.Process, g *actionOptions) error {
			return p.Pause(ctx, g.actor())
		}),
	},
	{
		name: approval.SteerResume, argsUsage: "[ID]",
		short: "Let a paused process go on, with higher limits if it has reached one; or all paused ones",
		long: `Let a paused process go on, with higher limits if it has reached one.

--all resumes every paused process that somebody started, with its parts and delegates.
With --because it resumes only those paused with that code, which "list --paused" shows. It
says what became of each.`,
		example: `  starter resume refunds
  starter resume refunds --requests 100
  starter resume --all --because llm_unreachable`,
		addFlags: addResumeFlags, runInsteadIfAsked: resumeAll,
		prepare: asPrepareFunc(func(ctx context.Context, p *client.Process, g *actionOptions) error {
			return p.Resume(ctx, g.newLimits, g.actor())
		}),
	},
	{
		name: approval.SteerRevise, argsUsage: "ID [--file FILE] [--reopen TOKEN]",
		short: "Correct a process: new values, inputs, instructions, Plan or limits, or an instance to work on again",
		long: `Correct a process. The file, JSON or YAML, holds messages as an Idea's context does:
a list, or an object with "context", and "limits" if wanted. They come after all others:
a state message sets values of one instance, or of all; input, data, text, instruction
and plan messages are seen from the next Request on. The correction makes a new Idea;
the old one stays as it is.

--reopen lets a settled or failed instance be worked on again: the next Request is about it
and reads the --reason. What was written stays. In the file, "reopen": true in a message
for the instance does the same.`,
		example: `  starter revise refunds --file correction.json --reason "wrong price list"
  starter revise refunds --reopen 13 --reason "the customer wrote again"`,
		addFlags: addReviseFlags, prepare: prepareRevision,
	},
	{
		name: approval.SteerAddInstances, argsUsage: "ID --instances FILE",
		short: "Add instances to a process that is at work",
		long: `Add instances to a process that is at work: one for each row of a JSON
Lines or CSV file, as "run --instances" reads it. Rows without a name get the names that
follow those of the process. The next Request covers the new instances.`,
		example: `  starter add refunds --instances late.jsonl`, addFlags: addAdditionFlags, prepare: prepareAddition,
	},
	{
		name: "cancel", argsUsage: "ID",
		short: "End a process: its Request and its Calls are broken off, nothing more runs",
		long: `End a process. Its Request and its Calls are broken off and nothing more runs; what
has taken effect stays. It waits until the process has ended.

With --undo it pauses the process first, so that all that it did is on record, then ends
it, and takes it back as "undo" does. It shows what would be taken back, and asks (--yes
answers yes). Without --undo or a pause before, it is not known of what was at work
whether it took effect, and "undo" leaves that to a person.`,
		example: `  starter cancel refunds
  starter cancel refunds --undo --reason "the wrong file"`,
		addFlags: addCancelFlags, runInsteadIfAsked: cancelAndUndo,
		prepare: asPrepareFunc(func(ctx context.Context, p *client.Process, _ *actionOptions) error {
			return p.Cancel(ctx)
		}),
	},
}

const decisionHelp = `.

Write CALL as "approvals" shows it, or in the form that is easier to type: 1.2@13 for 1.2@⑬.
ID may be an instance, refunds/13; then CALL is 1.2. The command waits until the decision is
taken (exit 0) or refused (exit 2), and says why. With a key ("starter keys person") it is
signed: the proof then says who decides, and of which groups.`

// ActionCommands are the verbs by which people act on processes.
func ActionCommands(a *app.App) (commands []*cobra.Command) {
	for _, one := range actionCommandTable {
		opts := &actionOptions{verb: one.name}
		c := &cobra.Command{Use: one.name + " " + one.argsUsage, Short: one.short, Long: one.long, Example: one.example}
		if one.helpSuffix != "" {
			c.Long = one.short + one.helpSuffix
		}
		if opts.flags = c.Flags(); one.addFlags != nil {
			one.addFlags(opts.flags, opts)
		}
		c.RunE = func(c *cobra.Command, args []string) error {
			opts.args = args
			return one.run(c.Context(), a, opts)
		}
		commands = append(commands, c)
	}
	return commands
}

func (t actionCommand) run(ctx context.Context, a *app.App, opts *actionOptions) error {
	if t.runInsteadIfAsked != nil {
		if done, err := t.runInsteadIfAsked(ctx, a, opts); done || err != nil {
			return err
		}
	}
	opts.processID = opts.args[0]
	perform, err := t.prepare(opts)
	if err != nil {
		return err
	}
	return a.WithProcess(ctx, opts.processID, func(p *client.Process) error {
		votes, err := perform(ctx, p)
		a.PrintProblems(filepath.Base(opts.inputFile), opts.fileWarnings)
		return printActionOutcome(a, actionOutcome{Process: opts.processID, Signal: t.name, Call: opts.callID,
			Votes: votesIfSeveralNeeded(votes)}, err)
	})
}

// asPrepareFunc makes a prepare function for a verb that checks nothing beforehand and counts no deciders.
func asPrepareFunc(do func(context.Context, *client.Process,
	*actionOptions) error) func(*actionOptions) (processAction, error) {
	return func(g *actionOptions) (processAction, error) {
		return func(ctx context.Context, p *client.Process) (none client.VoteCount, err error) {
			return none, do(ctx, p, g)
		}, nil
	}
}
