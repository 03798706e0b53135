package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"processidea/model/jsonval"
)

func (a *app) showVerb() *cobra.Command {
	at := 0
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Print an Idea of a process, as a file that run accepts",
		Long: `Print an Idea of a process's chain: the latest one, or the one of a number. It is a
file that run accepts. It is read from the store; no server is needed.`,
		Example: `  starter show refund-17
  starter show refund-17 --at 2 > again.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("at") && at < 1 {
				return misuse("show Idea %d of %s: Ideas are numbered from 1", at, args[0])
			}
			return a.show(c.Context(), args[0], at)
		},
	}
	c.Flags().IntVar(&at, "at", 0, "`number` of the Idea, from 1 (default the latest)")
	return c
}

func (a *app) show(ctx context.Context, id string, at int) error {
	return a.read(ctx, func(c *archive) error {
		at, err := c.number(ctx, "show", id, at)
		if err != nil {
			return err
		}
		idea, err := c.Load(ctx, id, at)
		if err != nil {
			return err
		}
		text := indent(idea)
		if a.json {
			text = string(jsonval.Encode(idea))
		}
		_, err = fmt.Fprintln(a.out, text)
		return err
	})
}
