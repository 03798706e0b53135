package process

import (
	"time"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/internal/flags"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/server"
)

// launchOptions are what the verbs that start a process have in common.
type launchOptions struct {
	id         string
	hasID      bool   // the command line names the id
	recordFile string // the file that records the LLM's replies; empty: no recording
	detach     bool
	wait       time.Duration // 0: until the end
	// llmWait is how long an LLM's server that has never answered the process may be unreachable; 0: for ever.
	llmWait time.Duration
	groups  []string // the groups of the person who decides at the terminal
	server  server.HostOptions
	// withSolution runs the Calls of the Idea's solution.
	withSolution bool
	resume       bool // resume the process if it is paused
	// planFirst makes each Plan wait until a person has approved it.
	planFirst bool
	// forkOf is the id of the process that this one is forked from.
	forkOf string
}

func (o *launchOptions) addFlags(c *cobra.Command) {
	app.AddHostingFlags(c, &o.server)
	c.Flags().StringVar(&o.id, "id", "", "the process's `id` (default: one is made up)")
	c.Flags().StringVar(&o.recordFile, "record", "", "write what the LLM says to `file`, as replies")
	c.Flags().BoolVar(&o.withSolution, "with-solution", false,
		"run the Calls of the Idea's solution, except those that its record calls done")
	c.Flags().BoolVar(&o.detach, "detach", false, "start the process and return at once")
	addWaitFlag(c, &o.wait)
	o.llmWait = time.Minute
	flags.Duration(c.Flags(), &o.llmWait, "llm-wait", jsonval.MinDuration, true,
		"return with exit code 4 if the LLM's server is away for so long without ever answering the process; 0: "+
			"go on waiting")
	c.Flags().StringArrayVar(&o.groups, "group", nil,
		"a `group` of the person who decides at the terminal; may be repeated (default $PROCESSIDEA_GROUPS, "+
			"separated by commas)")
}

func addWaitFlag(c *cobra.Command, wait *time.Duration) {
	flags.Duration(c.Flags(), wait, "wait", jsonval.MinDuration, true,
		"return after so long even if the process is still at work (default 0: wait for its end)")
}

// applyTo applies the command line's settings to an Idea.
func (o *launchOptions) applyTo(d *ideafiles.Definition) {
	if !o.planFirst {
		return
	}
	d.Idea = jsonval.WithKey(d.Idea, "config",
		jsonval.DeepMerge(d.Idea["config"], jsonval.Object{"approval": jsonval.Object{"plan": true}}))
	d.Parsed, _ = ideafile.ReadIdea(d.Idea)
}

// validate refuses invalid combinations of flags.
func (o *launchOptions) validate(p server.Place) error {
	if o.hasID {
		if err := client.ValidateID(o.id); err != nil {
			return exit.Usagef("run as %q: %w", o.id, err)
		}
	}
	switch {
	case o.recordFile != "" && p.Remote != nil:
		return exit.Usagef("record %s: the worker that asks the LLM is not in this program", o.recordFile)
	case o.recordFile != "" && o.detach:
		return exit.Usagef("record %s: not with --detach", o.recordFile)
	}
	return nil
}
