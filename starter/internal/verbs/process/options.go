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
	processID           string
	hasExplicitID       bool   // the command line names the id
	recordedRepliesFile string // the file that records the LLM's replies; empty: no recording
	isDetached          bool
	maxWait             time.Duration // 0: until the end
	// llmUnreachableTimeout is how long an LLM's server that has never answered the process may be unreachable; 0: for
	// ever.
	llmUnreachableTimeout time.Duration
	deciderGroups         []string // the groups of the person who decides at the terminal
	hostOptions           server.HostOptions
	// runsSolution runs the Calls of the Idea's solution.
	runsSolution   bool
	resumeIfPaused bool // resume the process if it is paused
	// needsPlanApproval makes each Plan wait until a person has approved it.
	needsPlanApproval bool
	// forkSourceID is the id of the process that this one is forked from.
	forkSourceID string
}

func (o *launchOptions) addFlags(c *cobra.Command) {
	app.AddHostingFlags(c, &o.hostOptions)
	f := c.Flags()
	f.StringVar(&o.processID, "id", "", "the process's `id` (default: one is made up)")
	f.StringVar(&o.recordedRepliesFile, "record", "", "write what the LLM says to `file`, as replies")
	f.BoolVar(&o.runsSolution, "with-solution", false,
		"run the Calls of the Idea's solution, except those that its record calls done")
	f.BoolVar(&o.isDetached, "detach", false, "start the process and return at once")
	addWaitFlag(c, &o.maxWait)
	o.llmUnreachableTimeout = time.Minute
	flags.Duration(f, &o.llmUnreachableTimeout, "llm-wait", jsonval.MinDuration, true,
		"return with exit code 4 if the LLM's server is away for so long without ever answering the process; 0: "+
			"go on waiting")
	f.StringArrayVar(&o.deciderGroups, "group", nil,
		"a `group` of the person who decides at the terminal; may be repeated (default $PROCESSIDEA_GROUPS, "+
			"separated by commas)")
}

func addWaitFlag(c *cobra.Command, maxWait *time.Duration) {
	flags.Duration(c.Flags(), maxWait, "wait", jsonval.MinDuration, true,
		"return after so long even if the process is still at work (default 0: wait for its end)")
}

// applyTo applies the command line's settings to an Idea.
func (o *launchOptions) applyTo(d *ideafiles.Definition) {
	if !o.needsPlanApproval {
		return
	}
	d.Idea = jsonval.WithKey(d.Idea, "config",
		jsonval.DeepMerge(d.Idea["config"], jsonval.Object{"approval": jsonval.Object{"plan": true}}))
	d.ParsedIdea, _ = ideafile.ReadIdea(d.Idea)
}

// validate refuses invalid combinations of flags.
func (o *launchOptions) validate(p server.Place) error {
	if o.hasExplicitID {
		if err := client.ValidateProcessID(o.processID); err != nil {
			return exit.Usagef("run as %q: %w", o.processID, err)
		}
	}
	switch {
	case o.recordedRepliesFile != "" && p.RemoteTemporal != nil:
		return exit.Usagef("record %s: the worker that asks the LLM is not in this program", o.recordedRepliesFile)
	case o.recordedRepliesFile != "" && o.isDetached:
		return exit.Usagef("record %s: not with --detach", o.recordedRepliesFile)
	}
	return nil
}

// fileFlags are the flags that name files beside the Idea file.
type fileFlags struct{ instancesPath, instanceNameColumn, repliesPath string }

func (f *fileFlags) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.instancesPath, "instances", "", "`file` of instances, one a row: .jsonl or .csv")
	c.Flags().StringVar(&f.instanceNameColumn, "key", "", "`column` of the instances that names them for people, such as order")
	addRepliesFlag(c, &f.repliesPath)
	_ = c.MarkFlagFilename("instances")
}

func addRepliesFlag(c *cobra.Command, repliesPath *string) {
	c.Flags().StringVar(repliesPath, "replies", "", "`file` of recorded replies that answer in place of an LLM")
	_ = c.MarkFlagFilename("replies")
}

func (f *fileFlags) findSource(path string) (ideafiles.Source, error) {
	source, err := ideafiles.Find(path, f.instancesPath, f.repliesPath)
	source.InstanceNameColumn = f.instanceNameColumn
	return source, err
}
