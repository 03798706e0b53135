package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// decision is a command line of approve, reject, amend, replace or answer.
type decision struct {
	kind, process, call string
	digest, by, reason  string
	value               string // JSON, or @file
}

// valueFlags names the flag that a decision takes beside the common ones, and the key of its signal.
var valueFlags = map[string]struct{ flag, key, usage string }{
	ideafile.Amend:   {"params", "params", "the parameters to run with, as `JSON` or @file"},
	ideafile.Replace: {"with", "with", "the Call that takes its place, as `JSON` or @file"},
	ideafile.Answer:  {"output", "output", "the result, as `JSON` or @file"},
}

func (a *app) decisionVerbs() []*cobra.Command {
	return []*cobra.Command{
		a.decisionVerb(ideafile.Approve, "Let a Call that waits run, as it is shown",
			`  starter approve refund-17 1.2
  starter approve refunds 1.2@⑬ --digest 5f0c… --by ann`),
		a.decisionVerb(ideafile.Reject, "Do not let a Call that waits run; the reason goes to the LLM",
			`  starter reject refunds 1.2@⑬ --reason "not without a receipt"`),
		a.decisionVerb(ideafile.Amend, "Let a Call that waits run with other parameters",
			`  starter amend refunds 1.2@⑬ --params '{"amount": 250}' --reason "half of it"`),
		a.decisionVerb(ideafile.Replace, "Put another Call in the place of one that waits",
			`  starter replace refunds 1.2@⑬ --with '{"_tool": "offerVoucher", "amount": 300}'`),
		a.decisionVerb(ideafile.Answer, "Give the result of a Call that waits; nothing runs",
			`  starter answer refunds 1.2@⑬ --output '"paid by hand"' --reason "in the shop"`),
	}
}

func (a *app) decisionVerb(kind, short, example string) *cobra.Command {
	d := decision{kind: kind}
	c := &cobra.Command{
		Use:     kind + " ID CALL",
		Short:   short,
		Long:    short + ".\n\nIt waits until the decision is taken (exit 0), or refused (exit 2), and says why.",
		Example: example,
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			d.process, d.call = args[0], args[1]
			return a.decide(c.Context(), d)
		},
	}
	c.Flags().StringVar(&d.digest, "digest", "", "the `digest` of what was shown: anything else is not decided on")
	c.Flags().StringVar(&d.reason, "reason", "", "why; the LLM is told")
	byFlag(c, &d.by)
	if v, ok := valueFlags[kind]; ok {
		c.Flags().StringVar(&d.value, v.flag, "", v.usage)
	}
	return c
}

func byFlag(c *cobra.Command, by *string) {
	c.Flags().StringVar(by, "by", "", "the `name` of who does it (default: the user's)")
}

// whoami is the user's name, where it is known.
func whoami() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}

func (a *app) decide(ctx context.Context, d decision) error {
	payload, err := d.payload()
	if err != nil {
		return err
	}
	return a.visiting(ctx, func(s *session) error {
		why, err := s.decide(ctx, d.process, d.kind, payload)
		return a.told(d.process, d.kind, d.call, why, err)
	})
}

func (d decision) payload() (map[string]any, error) {
	p := map[string]any{"call": d.call, "by": d.by}
	if d.by == "" {
		p["by"] = whoami()
	}
	for k, v := range map[string]string{"digest": d.digest, "reason": d.reason} {
		if v != "" {
			p[k] = v
		}
	}
	if f, ok := valueFlags[d.kind]; ok {
		if d.value == "" {
			return nil, misuse("%s %s: --%s is missing", d.kind, d.call, f.flag)
		}
		v, err := jsonValue(d.value)
		if err != nil {
			return nil, misuse("read --%s: %w", f.flag, err)
		}
		p[f.key] = v
	}
	if _, err := turn.ReadDecision(d.kind, p); err != nil {
		return nil, misuse("%s %s: %w", d.kind, d.call, err)
	}
	return p, nil
}

// jsonValue reads JSON from a flag, or from the file that it names behind an @.
func jsonValue(text string) (any, error) {
	data := []byte(text)
	if path, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if data, err = readFile(path); err != nil {
			return nil, err
		}
	}
	return jsonval.Decode(data)
}

// decide sends a decision to its instance and waits until it is taken. why is the reason for which it was refused.
func (s *session) decide(ctx context.Context, process, kind string, payload map[string]any) (why string, err error) {
	if _, err := s.find(ctx, process); err != nil {
		return "", err
	}
	call := payload["call"].(string)
	instance := s.instance(ctx, process, ideafile.TokenOfCallID(call))
	id := signalID()
	payload["id"] = id
	switch err := s.SignalWorkflow(ctx, instance, "", kind, payload); {
	case gone(err):
		return fmt.Sprintf("nothing waits there: %s has ended, or there is no Call %s", process, call), nil
	case err != nil:
		return "", fmt.Errorf("signal %s: %w", instance, err)
	}
	err = s.until(ctx, process, func() (done bool, err error) {
		var v protocol.InstanceView
		if err := s.query(ctx, instance, protocol.QueryStatus, &v); err != nil {
			return false, err
		}
		for _, c := range v.Calls {
			for _, d := range c.Decisions {
				done = done || d.ID == id
			}
		}
		for _, r := range v.Refusals {
			if r.ID == id {
				done, why = true, r.Reason
			}
		}
		return done, nil
	})
	return why, err
}

// instance gives the workflow id of an instance. Where the process does not answer, it is taken for one that is not split.
func (s *session) instance(ctx context.Context, process, token string) string {
	v := protocol.ProcessView{Result: loop.Result{Process: process}}
	_ = s.query(ctx, process, protocol.QueryStatus, &v)
	return v.InstanceID(token)
}
