package app

import (
	"context"

	"github.com/spf13/cobra"
)

// Verb makes a command of how it is used, a line about it, its help, examples, and what runs it.
func Verb(use, short, long, example string, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Example: example,
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), args) }}
}
