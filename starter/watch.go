package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) watchVerb() *cobra.Command {
	var wait time.Duration
	c := &cobra.Command{
		Use:   "watch ID",
		Short: "Show the progress of a process until it ends, and print its result",
		Long: `Show the progress of a process on standard error, through pauses too, until it
ends, and print its result as run does.`,
		Example: `  starter watch refund-17
  starter watch refund-17 --wait 1m --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.watch(c.Context(), args[0], wait) },
	}
	waitFlag(c, &wait)
	return c
}

func (a *app) watch(ctx context.Context, id string, wait time.Duration) error {
	if wait < 0 {
		return misuse("wait %s: it is negative", wait)
	}
	p, err := a.place()
	if err != nil {
		return err
	}
	s, err := p.visit(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.find(ctx, id); err != nil {
		return err
	}
	f := follower{session: s, id: id, progress: a.newProgress(id), through: true}
	if wait > 0 {
		f.over = time.After(wait)
	}
	result, err := f.follow(ctx)
	if errors.Is(err, errAbandoned) {
		return noServer("watch %s: %w", id, err)
	}
	if err != nil {
		return err
	}
	return a.finish(result)
}
