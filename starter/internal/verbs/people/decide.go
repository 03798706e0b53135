package people

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
)

// valueFlags names the flag that a decision takes beside the common ones.
var valueFlags = map[string]struct{ name, usage string }{
	client.Amend:   {"params", "the parameters that change, as `JSON` or @file; null takes an optional one away"},
	client.Replace: {"with", "the Call that takes its place, as `JSON` or @file"},
	client.Answer:  {"output", "the result, as `JSON` or @file"},
}

// Decisions are approve, reject, amend, replace and answer.
func Decisions(a *app.App) []*cobra.Command {
	return []*cobra.Command{
		decisionVerb(a, client.Approve, "Let a Call that waits run, as it is shown",
			`  starter approve refund-17 1.2
  starter approve refunds 1.2@13 --digest 5f0c… --by ann`),
		decisionVerb(a, client.Reject, "Do not let a Call that waits run; the reason goes to the LLM",
			`  starter reject refunds 1.2@13 --reason "not without a receipt"`),
		decisionVerb(a, client.Amend, "Let a Call that waits run with other parameters",
			`  starter amend refunds 1.2@13 --params '{"values": {"cents": 25000}}' --reason "half of it"`),
		decisionVerb(a, client.Replace, "Put another Call in the place of one that waits",
			`  starter replace refunds 1.2@13 --with '{"_tool": "apologise", "values": {"order": "†state.order", "customer": "†state.customer"}}'`),
		decisionVerb(a, client.Answer, "Give the result of a Call that waits; nothing runs",
			`  starter answer refunds 1.2@13 --output '"paid by hand"' --reason "in the shop"`),
	}
}

func decisionVerb(a *app.App, kind, short, example string) *cobra.Command {
	d := client.Decision{Kind: kind}
	value, key := "", "" // JSON, or @file; a file
	c := &cobra.Command{
		Use:   kind + " ID CALL",
		Short: short,
		Long: short + `.

CALL is as "approvals" shows it, or as it is typed more easily: 1.2@13 for 1.2@⑬. ID may
be an instance, refunds/13; then CALL is 1.2. It waits until the decision is taken
(exit 0), or refused (exit 2), and says why. With a key ("starter keys person") it is
signed: the proof then says who decides, and of which groups.`,
		Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			d.Call = args[1]
			if err := decideBy(&d, key); err != nil {
				return err
			}
			return decide(c.Context(), a, args[0], d, value)
		},
	}
	c.Flags().StringVar(&d.Digest, "digest", "", "the `digest` of what was shown: anything else is not decided on")
	c.Flags().StringVar(&d.Reason, "reason", "", "why; the LLM is told")
	addByFlag(c, &d.By)
	addGroupFlag(c, &d.Groups)
	addKeyFlag(c, &key)
	if v, ok := valueFlags[kind]; ok {
		c.Flags().StringVar(&value, v.name, "", v.usage)
	}
	return c
}

func decide(ctx context.Context, a *app.App, given string, d client.Decision, value string) error {
	process, call, err := callWithin(given, d.Call)
	if err != nil {
		return err
	}
	d.Call = call
	if err := readDecision(&d, value); err != nil {
		return err
	}
	return a.VisitProcess(ctx, process, func(p *client.Process) error {
		count, err := p.DecideAndCount(ctx, d)
		return printCounted(a, process, d.Kind, d.Call, count, err)
	})
}

// callWithin reads the id of a process, or of one of its instances as signals take it, and the id of a Call there, which then need not
// name the instance.
func callWithin(id, call string) (process, fullCall string, err error) {
	process, word, isInstance := protocol.ParseInstanceID(id)
	own := ideafile.InstanceTokenOfCallID(call)
	switch {
	case !isInstance || spelling.MatchesToken(word, own) || spelling.MatchesToken(own, word):
		return process, call, nil
	case own == "":
		return process, call + "@" + word, nil
	}
	return "", "", exit.Usagef("find Call %s: it is none of %s, but of instance %s", call, id, own)
}

// readDecision reads the value that the decision brings, and refuses one that breaks its form before anybody is asked.
func readDecision(d *client.Decision, value string) (err error) {
	if f, ok := valueFlags[d.Kind]; ok {
		if value == "" {
			return exit.Usagef("%s %s: --%s is missing", d.Kind, d.Call, f.name)
		}
		if d.Value, err = jsonValue(value); err != nil {
			return exit.Usagef("read --%s: %w", f.name, err)
		}
	}
	if err := d.Validate(); err != nil {
		return exit.Usagef("%s %s: %w", d.Kind, d.Call, err)
	}
	return nil
}

// jsonValue reads JSON from a flag, or from the file that it names behind an @.
func jsonValue(text string) (any, error) {
	data := []byte(text)
	if path, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if data, err = ideafiles.ReadFile(path); err != nil {
			return nil, err
		}
	}
	return jsonval.Decode(data)
}
