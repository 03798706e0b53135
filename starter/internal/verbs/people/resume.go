package people

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/pflag"

	"processidea/client"
	"processidea/internal/flags"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

func addResumeFlags(f *pflag.FlagSet, opts *actionOptions) {
	addAuthorFlags(f, opts)
	f.BoolVar(&opts.isAllFlagSet, "all", false, "all paused processes")
	f.StringVar(&opts.pauseCodeFilter, "because", "",
		"with --all: only those paused with this `code`, such as llm_unreachable")
	limits := &opts.newLimits
	flags.Int(f, &limits.Requests, "requests", 1, jsonval.MaxCount, "the new limit of Requests, in all")
	flags.Int(f, &limits.Tokens, "tokens", 1, jsonval.MaxCount, "the new limit of tokens, in all")
	flags.Int(f, &limits.Calls, "calls", 1, jsonval.MaxCount, "the new limit of Calls, in all")
	flags.Money(f, &limits.Money, "money", "the new limit of the LLM's cost in US dollars, in all; 0: no limit")
	flags.Duration(f, &limits.Duration, "duration", jsonval.MinDuration, false,
		"the new limit of the time since the start, such as 72h")
}

// resumeAll resumes all paused processes, or only those paused with the code of --because.
func resumeAll(ctx context.Context, a *app.App, opts *actionOptions) (isHandled bool, err error) {
	if !opts.isAllFlagSet && !opts.flags.Changed("because") && len(opts.args) > 0 {
		return false, nil
	}
	for _, limit := range []string{"requests", "tokens", "calls", "money", "duration"} {
		if opts.flags.Changed(limit) {
			return true, exit.Usagef("resume: --%s is for one process; name it", limit)
		}
	}
	switch {
	case len(opts.args) > 0:
		return true, exit.Usagef("resume %s: --all and --because apply to all processes: leave out the ID",
			opts.args[0])
	case opts.pauseCodeFilter == "" && opts.flags.Changed("because"): // probably an unset variable in a script
		return true, exit.Usagef("resume: --because needs the code of a pause, and it is empty")
	case !opts.isAllFlagSet:
		return true, exit.Usagef("resume: name a process, or use --all")
	}
	return true, a.WithSession(ctx, func(s *server.Session) error {
		list, err := s.ResumeAll(ctx, opts.pauseCodeFilter, opts.actor())
		if err != nil {
			return err
		}
		return printResumeResults(a, list)
	})
}

// printResumeResults prints what became of each process. It returns an error for the exit code if one was not resumed.
func printResumeResults(a *app.App, outcomes []client.ResumeOutcome) error {
	var lines strings.Builder
	notResumedCount := 0
	for _, r := range outcomes {
		text := r.ProcessID + ": resume taken"
		if !r.WasResumed {
			notResumedCount++
			text = r.ProcessID + ": not resumed: " + r.FailureReason
		}
		lines.WriteString(print.Printable(text) + "\n")
	}
	err := a.Show(outcomes, cmp.Or(lines.String(), "no process is paused for this reason\n"))
	if err == nil && notResumedCount > 0 {
		err = exit.WithCode(exit.Usage)
	}
	return err
}
