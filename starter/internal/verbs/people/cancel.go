package people

import (
	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/starter/internal/app"
)

// Cancel ends a process.
func Cancel(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID",
		Short: "End a process: its Request and its Calls are broken off, nothing more runs",
		Long: `End a process. Its Request and its Calls are broken off and nothing more runs; what
has had its effect keeps it. It waits until the process has ended.`,
		Example: `  starter cancel refunds`,
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			return steer(ctx, a, args[0], "cancel", func(p *client.Process) error { return p.Cancel(ctx) })
		},
	}
}
