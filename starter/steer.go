package main

import (
	"context"

	"github.com/spf13/cobra"

	"processidea/model/jsonval"
	"processidea/model/loop"
)

// steering is what the verbs that steer have in common.
type steering struct{ by, reason string }

func (s *steering) flags(c *cobra.Command) {
	byFlag(c, &s.by)
	c.Flags().StringVar(&s.reason, "reason", "", "why")
}

func (s *steering) payload() map[string]any {
	p := map[string]any{"by": s.by}
	if s.by == "" {
		p["by"] = whoami()
	}
	if s.reason != "" {
		p["reason"] = s.reason
	}
	return p
}

func (a *app) steer(ctx context.Context, process, kind string, payload map[string]any) error {
	return a.visiting(ctx, func(s *session) error {
		why, err := s.steer(ctx, process, kind, payload)
		return a.told(process, kind, "", why, err)
	})
}

func (a *app) pauseVerb() *cobra.Command {
	var s steering
	c := &cobra.Command{
		Use:   "pause ID",
		Short: "Let the running Calls of a process finish and start nothing new",
		Long: `Let the running Calls of a process finish and start nothing new, until "resume".
Decisions are taken in the meantime; what they let run starts when the process goes on.`,
		Example: `  starter pause refunds --reason "the bank is closed"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.steer(c.Context(), args[0], loop.SteerPause, s.payload())
		},
	}
	s.flags(c)
	return c
}

func (a *app) resumeVerb() *cobra.Command {
	var s steering
	var requests, tokens, calls int
	var duration string
	c := &cobra.Command{
		Use:   "resume ID",
		Short: "Let a paused process go on, with higher limits where it has reached one",
		Example: `  starter resume refunds
  starter resume refunds --requests 100`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, limits := s.payload(), map[string]any{}
			for name, n := range map[string]int{"requests": requests, "tokens": tokens, "calls": calls} {
				if c.Flags().Changed(name) {
					limits[name] = n
				}
			}
			if duration != "" {
				limits["duration"] = duration
			}
			if len(limits) > 0 {
				p["limits"] = limits
			}
			if _, err := loop.ReadSteering(loop.SteerResume, jsonval.Normal(p).(map[string]any)); err != nil {
				return misuse("resume %s: %w", args[0], err)
			}
			return a.steer(c.Context(), args[0], loop.SteerResume, p)
		},
	}
	s.flags(c)
	c.Flags().IntVar(&requests, "requests", 0, "the new limit of Requests, in all")
	c.Flags().IntVar(&tokens, "tokens", 0, "the new limit of tokens, in all")
	c.Flags().IntVar(&calls, "calls", 0, "the new limit of Calls, in all")
	c.Flags().StringVar(&duration, "duration", "", "the new limit of time since the start, such as 72h")
	return c
}
