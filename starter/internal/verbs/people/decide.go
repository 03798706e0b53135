package people

import (
	"context"

	"github.com/spf13/pflag"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/protocol"
	"processidea/starter/internal/exit"
)

func addDecisionFlags(f *pflag.FlagSet, opts *actionOptions) {
	addDeciderFlags(f, opts)
	f.Lookup("reason").Usage = "why; the LLM is told"
	f.StringVar(&opts.shownDigest, "digest", "", "the `digest` of what you saw: nothing else is decided on")
}

// valueFlagAdder adds the common flags of decisions and the flag with the decision's value.
func valueFlagAdder(name, usage string) func(*pflag.FlagSet, *actionOptions) {
	return func(f *pflag.FlagSet, g *actionOptions) {
		addDecisionFlags(f, g)
		g.valueFlagName = name
		f.StringVar(&g.valueText, name, "", usage)
	}
}

// remarkFlagAdder adds the flags of a remark on a Call. If hasRecipient is set, they can name a recipient.
func remarkFlagAdder(hasRecipient bool) func(*pflag.FlagSet, *actionOptions) {
	return func(f *pflag.FlagSet, g *actionOptions) {
		f.StringVar(&g.actorName, "by", "", "the `name` of the person who says it (default: the user's)")
		f.StringVar(&g.reason, "text", "", "what is said")
		if hasRecipient {
			addRecipientFlags(f, g)
			f.BoolVar(&g.isForRequest, "for-request", false,
				"tell the LLM of the question and of what is answered, in the next Request")
		}
	}
}

func addRecipientFlags(f *pflag.FlagSet, opts *actionOptions) {
	f.StringVar(&opts.recipient, "to", "", "the `name` of a person")
	f.StringVar(&opts.recipientGroup, "to-group", "", "the name of a `group`")
}

func addHandOverFlags(f *pflag.FlagSet, opts *actionOptions) {
	addDeciderFlags(f, opts)
	addRecipientFlags(f, opts)
}

// prepareDecision prepares a decision on a Call. It refuses an invalid decision before it contacts a server.
func prepareDecision(opts *actionOptions) (do processAction, err error) {
	opts.callID = opts.args[1]
	d, err := opts.newDecision()
	if err != nil {
		return nil, err
	}
	if opts.processID, opts.callID, err = qualifyCallID(opts.args[0], opts.callID); err != nil {
		return nil, err
	}
	d.Kind, d.CallID = opts.verb, opts.callID
	if opts.valueFlagName != "" {
		if opts.valueText == "" {
			return nil, exit.Usagef("%s %s: --%s is missing", d.Kind, d.CallID, opts.valueFlagName)
		}
		if d.Value, err = parseJSONFlag(opts.valueText); err != nil {
			return nil, exit.Usagef("read --%s: %w", opts.valueFlagName, err)
		}
	}
	if err := d.Validate(); err != nil {
		return nil, exit.Usagef("%s %s: %w", d.Kind, d.CallID, err)
	}
	return func(ctx context.Context, p *client.Process) (client.VoteCount, error) {
		return p.DecideAndCountVotes(ctx, d)
	}, nil
}

// qualifyCallID reads a process id and a Call id. The process id may name an instance, refunds/13; the Call id then
// need not name it.
func qualifyCallID(processOrInstanceID, callID string) (processID, fullCallID string, err error) {
	processID, typedToken, isInstance := protocol.ParseInstanceID(processOrInstanceID)
	instanceToken := ideafile.InstanceTokenOfCallID(callID)
	switch {
	case !isInstance || spelling.MatchesInstanceToken(typedToken, instanceToken) ||
		spelling.MatchesInstanceToken(instanceToken, typedToken):
		return processID, callID, nil
	case instanceToken == "":
		return processID, callID + "@" + typedToken, nil
	}
	return "", "", exit.Usagef("find Call %s: it does not belong to %s, but to instance %s", callID,
		processOrInstanceID, instanceToken)
}
