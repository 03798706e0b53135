package backtest

import (
	"context"
	"fmt"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/internal/kind"
	"processidea/learn/backtest"
	"processidea/llm"
	"processidea/model/diag"
	"processidea/model/ideafile"
)

// Options select the processes and the planner.
type Options struct {
	// ProcessIDs are at least one. They have finished, and have their chains in the store.
	ProcessIDs []string
	// LLM answers Requests. Nil: the replies of the source do or, if it has none, what the LLM planned in the past
	// processes.
	LLM *llm.Client
}

// These are the values of Report.Plans.
const (
	PlanSourceRecorded = "past"
	PlanSourceReplies  = "replies"
	PlanSourceLLM      = "llm"
)

// Report is what backtest --json prints.
type Report struct {
	backtest.Report
	File       string `json:"file"`
	PlanSource string `json:"plans"` // who answered Requests: PlanSourceRecorded, PlanSourceReplies or PlanSourceLLM
}

// Run runs the files of a process over the instances of others. It also returns the warnings. The error is an
// *ideafiles.InvalidError if the files have mistakes. It wraps client.ErrNotFound for a process without a chain, and
// client.ErrInvalid for a process that has not finished or was simulated.
func Run(ctx context.Context, archive *client.Archive, s ideafiles.Source, tools ideafiles.WorkerTools,
	o Options) (*Report, diag.Problems, error) {
	if len(o.ProcessIDs) == 0 {
		return nil, nil, kind.Errorf(client.ErrInvalid, "backtest: no process is named")
	}
	s.InstancesPath = "" // the instances come from the past processes
	if o.LLM != nil || !s.AreRepliesFromCaller {
		s.RepliesPath = ""
	}
	d, problems, err := ideafiles.LoadIdea(s)
	if err == nil {
		err = d.ReadReplies(tools, &problems)
	}
	if err == nil && len(problems.Errors()) > 0 {
		err = &ideafiles.InvalidError{Source: s.GivenPath, Problems: problems}
	}
	if err != nil {
		return nil, nil, err
	}
	pastProcesses, err := readFinishedProcesses(ctx, archive, o.ProcessIDs)
	if err != nil {
		return nil, nil, err
	}
	tools.HasOtherWorkers = true // nothing runs here: a Tool without a known runner is only a warning
	ideaWithData, err := backtest.WithPastData(d.ParsedIdea, pastProcesses[0])
	if err != nil {
		return nil, nil, kind.WithKind(client.ErrInvalid, err)
	}
	problems.Append(ideaWarnings(tools, d.ParsedIdea, ideaWithData)...)
	planner, planSource, stop, err := choosePlanner(ctx, d, o, archive.Store())
	if err != nil {
		return nil, nil, err
	}
	defer stop()
	report, err := backtest.Compare(d.ParsedIdea, tools.Bind, planner, pastProcesses...)
	if err != nil {
		return nil, nil, err
	}
	return &Report{Report: *report, File: s.GivenPath, PlanSource: planSource}, problems, nil
}

// readFinishedProcesses reads finished processes from their chains.
func readFinishedProcesses(ctx context.Context, archive *client.Archive, ids []string) (
	pastProcesses []*backtest.FinishedProcess, err error,
) {
	for _, id := range ids {
		run, err := archive.ReadProcessWithParts(ctx, id, "read")
		if err != nil {
			return nil, err
		}
		p, err := backtest.Read(run)
		if err != nil {
			return nil, kind.WithKind(client.ErrInvalid, err)
		}
		pastProcesses = append(pastProcesses, p)
	}
	return pastProcesses, nil
}

// ideaWarnings returns the mistakes in the new Idea beyond its form, as far as they are in the file. Their effects are
// among the differences.
func ideaWarnings(tools ideafiles.WorkerTools, fileIdea, ideaWithData *ideafile.Idea) (problems diag.Problems) {
	if ideaWithData == nil {
		return nil
	}
	for _, p := range tools.Problems(ideaWithData).Errors() {
		contextIndex := 0
		if n, _ := fmt.Sscanf(p.JSONPath, "$.context[%d]", &contextIndex); n == 0 ||
			contextIndex < len(fileIdea.Context) {
			p.IsWarning = true
			problems.Append(p)
		}
	}
	return problems
}
