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

// valueFlag adds the flag that a decision takes beside the common ones.
func valueFlag(name, usage string) func(*pflag.FlagSet, *actOptions) {
	return func(f *pflag.FlagSet, g *actOptions) {
		addDecisionFlags(f, g)
		g.valueFlag = name
		f.StringVar(&g.value, name, "", usage)
	}
}

// remarkFlags are the flags of a remark on a Call, to a recipient if the verb can name one.
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

// decide takes a decision on a Call, and refuses one that breaks its form before anybody is asked.
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

// qualifyCallID reads the id of a process, or of one of its instances as signals take it, and the id of a Call there,
// which then need not name the instance.
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
