package app

import (
	"context"

	"github.com/spf13/cobra"
)

// NewCommand makes a command from its usage line, short and long help, examples, and the function that runs it.
func NewCommand(use, short, long, example string, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Example: example,
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), args) }}
}
