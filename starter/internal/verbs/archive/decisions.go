package archive

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/internal/flags"
	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
)

// Decisions lists what people decided.
func Decisions(a *app.App) *cobra.Command {
	ideaNumber, v := 0, valueFormat{}
	c := app.NewCommand("decisions ID", "List what people decided in a process, and what came of it",
		`List what people decided in a process, in the order of time: who approved, rejected,
amended, replaced or answered which Call, when and why, what they were shown, what
they made of it and what ran in the end; who paused, resumed, revised it or added
instances; and what happened by itself at a deadline or a limit. It is read from the
store; no server is needed. What was decided since the latest Idea is in the next one.`,
		`  starter decisions refunds
  starter decisions refunds --at 2 --json`,
		func(ctx context.Context, args []string) error {
			return runDecisions(ctx, a, args[0], ideaNumber, v)
		})
	flags.Int(c.Flags(), &ideaNumber, "at", 1, jsonval.MaxCount,
		"`number` of the last Idea that counts, from 1 (default the latest)")
	v.addFlag(c)
	return c
}

func runDecisions(ctx context.Context, a *app.App, id string, ideaNumber int, v valueFormat) error {
	return withArchiveNotingHoldUps(ctx, a, id, ideaNumber, func(archive *client.Archive) error {
		decisions, err := archive.Chain(id).Decisions(ctx, ideaNumber)
		if err != nil {
			return err
		}
		if a.WritesJSON {
			return a.PrintJSON(decisions)
		}
		links, err := archive.Chain(id).Ideas(ctx)
		if err != nil {
			return err
		}
		lastLink := links[len(links)-1]
		for _, l := range links {
			if l.IdeaNumber == ideaNumber {
				lastLink = l
			}
		}
		head := fmt.Sprintf("%s: %s up to Idea %d, %s\n", print.Printable(id), print.Plural(len(decisions), "decision"),
			lastLink.IdeaNumber, sealedText(lastLink.Created))
		return a.Print(head + v.decisionsText(decisions))
	})
}

// sealedText says when an Idea was sealed, and how old it is.
func sealedText(sealedAt time.Time) string {
	return "sealed " + sealedAt.Local().Format(time.DateTime) + ", " + print.AgoText(time.Since(sealedAt))
}

// decisionsText lists decisions, each with what it changed and what came of it.
func (v valueFormat) decisionsText(decisions []client.RecordedDecision) string {
	var b strings.Builder
	for _, d := range decisions {
		summary := d.Kind + " by " + deciderText(d.Decision)
		if to := d.RecipientText(); to != "" {
			summary += " to " + to
		}
		summary += proofAndReasonText(d.Decision)
		if d.CallID != "" {
			summary = d.CallID + "  " + summary
		}
		print.Fprintf(&b, "%s  %s\n", d.DecidedAt.Local().Format(time.DateTime), summary)
		if about := d.About(); about != "" {
			print.Fprintf(&b, "    %s\n", about)
		}
		for _, line := range v.decisionDetailLines(d.Decision) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		if d.Outcome != nil {
			fmt.Fprintf(&b, "    %s\n", v.outcomeText(*d.Outcome))
		}
	}
	return b.String()
}

// deciderText names who decided: a person and their groups, or the standing order that decided without a person.
func deciderText(d approval.Decision) string {
	text := cmp.Or(d.DecidedBy, "a person")
	if len(d.Groups) > 0 {
		text += " of " + strings.Join(d.Groups, ", ")
	}
	text = approval.DeputyText(text, d.OnBehalfOf)
	if d.StandingOrderID != "" && d.Kind == client.Approve {
		text = fmt.Sprintf("the standing order %s of %s, at which nobody looked", d.StandingOrderID, text)
	}
	return text
}

// proofAndReasonText says how a decision is proved, whether others must decide too, and why it was taken.
func proofAndReasonText(d approval.Decision) (text string) {
	if signed := d.SignedText(); signed != "" {
		text += ", " + signed
	}
	if n := d.Deciders.RequiredApprovals(); n > 1 && (d.Kind == client.Approve || d.Kind == client.Answer) {
		text += fmt.Sprintf(", one of %d required", n)
	}
	if notified := d.SentNotifications.String(); notified != "" {
		text += " (people had been " + notified + ")"
	}
	if d.Reason != "" {
		text += ", because " + d.Reason
	}
	return text
}

// decisionDetailLines says what was shown, and what the decision made of it.
func (v valueFormat) decisionDetailLines(d approval.Decision) (lines []string) {
	if d.Tool != "" {
		lines = append(lines, "shown "+v.callText(d.Tool, d.ShownParams))
	}
	switch d.Kind {
	case client.Amend:
		lines = append(lines, "to run with "+v.text(d.AmendedParams))
	case client.Replace:
		lines = append(lines, "replaced by "+v.text(d.Replacement))
	case client.Answer:
		lines = append(lines, "answered "+v.text(d.AnswerResult))
	}
	if o := d.Order; o != nil {
		lines = append(lines, "order "+v.text(jsonval.ToJSONValue(o)))
	} else if d.Kind == approval.SteerEndStandingOrder {
		lines = append(lines, "order "+print.Printable(d.StandingOrderID))
	}
	if len(d.AddedMessages) > 0 {
		lines = append(lines, "messages "+v.text(d.AddedMessages))
	}
	if len(d.AddedInstanceTokens) > 0 {
		lines = append(lines, "instances "+v.fitWidth(strings.Join(d.AddedInstanceTokens, ", ")))
	}
	if d.Limits != nil {
		lines = append(lines, fmt.Sprintf("limits %+v", *d.Limits))
	}
	return lines
}

func (v valueFormat) callText(tool string, params jsonval.Object) string {
	return print.Printable(tool) + " " + v.text(params)
}

// outcomeText says what became of a Call in the end.
func (v valueFormat) outcomeText(o turn.CallOutcome) string {
	text := "nothing ran"
	if o.ExecutedCall != nil {
		text = "ran " + v.callText(o.ExecutedCall.Tool, o.ExecutedCall.Params)
	}
	text += ": " + string(o.Status)
	if o.Fault != nil {
		text += ", " + print.OneLine(o.Fault.Message)
	}
	return text
}
