package main

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) resultVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "result ID",
		Short: "Print how a process stands, or how it ended",
		Long: `Print how a process stands, or how it ended, as run does, with run's exit codes.
It waits for nothing.`,
		Example: `  starter result refund-17
  starter result refund-17 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.result(c.Context(), args[0]) },
	}
}

func (a *app) result(ctx context.Context, id string) error {
	p, err := a.place()
	if err != nil {
		return err
	}
	s, err := p.visit(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	r, err := s.look(ctx, id)
	if err != nil {
		return err
	}
	return a.finish(r)
}
