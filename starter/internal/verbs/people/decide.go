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

func addDecisionFlags(f *pflag.FlagSet, g *actOptions) {
	addDeciderFlags(f, g)
	f.Lookup("reason").Usage = "why; the LLM is told"
	f.StringVar(&g.digest, "digest", "", "the `digest` of what you saw: nothing else is decided on")
}

// valueFlag adds the common flags of decisions and the flag with the decision's value.
func valueFlag(name, usage string) func(*pflag.FlagSet, *actOptions) {
	return func(f *pflag.FlagSet, g *actOptions) {
		addDecisionFlags(f, g)
		g.valueFlag = name
		f.StringVar(&g.value, name, "", usage)
	}
}

// remarkFlags adds the flags of a remark on a Call. If toSomebody is set, they can name a recipient.
func remarkFlags(toSomebody bool) func(*pflag.FlagSet, *actOptions) {
	return func(f *pflag.FlagSet, g *actOptions) {
		f.StringVar(&g.by, "by", "", "the `name` of the person who says it (default: the user's)")
		f.StringVar(&g.reason, "text", "", "what is said")
		if toSomebody {
			addAddresseeFlags(f, g)
		}
	}
}

func addAddresseeFlags(f *pflag.FlagSet, g *actOptions) {
	f.StringVar(&g.to, "to", "", "the `name` of a person")
	f.StringVar(&g.toGroup, "to-group", "", "the name of a `group`")
}

func handOverFlags(f *pflag.FlagSet, g *actOptions) {
	addDeciderFlags(f, g)
	addAddresseeFlags(f, g)
}

// decide prepares a decision on a Call. It refuses an invalid decision before it contacts a server.
func decide(g *actOptions) (do action, err error) {
	g.call = g.args[1]
	d, err := g.decision()
	if err != nil {
		return nil, err
	}
	if g.process, g.call, err = qualifyCallID(g.args[0], g.call); err != nil {
		return nil, err
	}
	d.Kind, d.Call = g.verb, g.call
	if g.valueFlag != "" {
		if g.value == "" {
			return nil, exit.Usagef("%s %s: --%s is missing", d.Kind, d.Call, g.valueFlag)
		}
		if d.Value, err = jsonValue(g.value); err != nil {
			return nil, exit.Usagef("read --%s: %w", g.valueFlag, err)
		}
	}
	if err := d.Validate(); err != nil {
		return nil, exit.Usagef("%s %s: %w", d.Kind, d.Call, err)
	}
	return func(ctx context.Context, p *client.Process) (client.Count, error) { return p.DecideAndCount(ctx, d) }, nil
}

// qualifyCallID reads a process id and a Call id. The process id may name an instance, refunds/13; the Call id then
// need not name it.
func qualifyCallID(id, call string) (process, fullCall string, err error) {
	process, word, isInstance := protocol.ParseInstanceID(id)
	own := ideafile.InstanceTokenOfCallID(call)
	switch {
	case !isInstance || spelling.MatchesToken(word, own) || spelling.MatchesToken(own, word):
		return process, call, nil
	case own == "":
		return process, call + "@" + word, nil
	}
	return "", "", exit.Usagef("find Call %s: it does not belong to %s, but to instance %s", call, id, own)
}
