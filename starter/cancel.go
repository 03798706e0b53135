package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"processidea/model/loop"
)

func (a *app) cancelVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID",
		Short: "End a process: its Request and its Calls are broken off, nothing more runs",
		Long: `End a process. Its Request and its Calls are broken off and nothing more runs; what
has had its effect keeps it. It waits until the process has ended.`,
		Example: `  starter cancel refunds`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.visiting(c.Context(), func(s *session) error { return a.cancel(c.Context(), s, args[0]) })
		},
	}
}

func (a *app) cancel(ctx context.Context, s *session, process string) error {
	info, err := s.find(ctx, process)
	switch {
	case err != nil:
		return err
	case info.GetCloseTime() != nil:
		return a.told(process, "cancel", "", "the process has ended", nil)
	}
	if err := s.CancelWorkflow(ctx, process, ""); err != nil && !gone(err) {
		return fmt.Errorf("cancel %s: %w", process, err)
	}
	if err := s.until(ctx, process, func() (bool, error) { return s.ended(ctx, process), s.query(ctx, process, "status", new(any)) }); err != nil {
		return err
	}
	r, err := s.end(ctx, process)
	if err != nil {
		return err
	}
	why := ""
	if r.Status != loop.StatusCancelled {
		why = "the process had just ended as " + string(r.Status)
	}
	return a.told(process, "cancel", "", why, nil)
}
