package main

import "github.com/spf13/cobra"

func (a *app) toolsVerb() *cobra.Command {
	c := &cobra.Command{
		Use:     "tools",
		Short:   "Make Tools of what is described elsewhere",
		Example: `  starter tools import petshop.yaml > tools.json`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.importVerb())
	return c
}
