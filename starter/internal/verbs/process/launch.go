package process

import (
	"context"
	"slices"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// checkDefinition reports what is wrong with the definition to start from, and says who will answer Requests.
func checkDefinition(a *app.App, p server.Place, d *ideafiles.Definition, problems diag.Problems,
	recordedRepliesFile string) error {
	if len(problems.Errors()) > 0 {
		return &client.InvalidError{Source: d.Source.GivenPath, Problems: problems}
	}
	// The verb check reports strictness warnings.
	a.PrintProblems(d.Source.GivenPath, slices.DeleteFunc(slices.Clone(problems), check.IsStrictnessWarning))
	if d.ParsedIdea.Simulation != nil {
		return exit.Usagef(
			"run %s: it is a simulation with made-up values: continue it with simulate; to run it for real, remove "+
				"meta.simulated and the messages' _simulated", d.Source.GivenPath)
	}
	if err := p.ChooseReplySource(d); err != nil {
		return err
	}
	if d.RepliesText != "" && recordedRepliesFile != "" {
		return exit.Usagef("record %s: no LLM is asked, a script answers: %s", recordedRepliesFile,
			d.Source.RepliesPath)
	}
	switch {
	case d.RepliesText != "":
		a.Note("no LLM is asked: a script answers, %s", d.Source.RepliesPath)
	case p.RemoteTemporal == nil && !server.EnvironmentHasLLM():
		a.Note("no LLM is configured: the Plan runs without one")
	}
	if latentNames := latentToolNames(p, d); p.RemoteTemporal == nil && len(latentNames) > 0 {
		a.Note("no tool runs %s: the LLM itself writes the result", diag.SummarizeNames(latentNames))
	}
	return nil
}

// latentToolNames names the Tools whose results the LLM writes.
func latentToolNames(p server.Place, d *ideafiles.Definition) (names []string) {
	bindings := p.Tools().Bind(d.ParsedIdea)
	for _, t := range d.ParsedIdea.Tools {
		if bindings[t.Name].Kind == ideafile.KindLatent {
			names = append(names, t.Name)
		}
	}
	return names
}

// launchAndFollow starts a process, or attaches to it, and waits.
func launchAndFollow(ctx context.Context, a *app.App, p server.Place, d *ideafiles.Definition, o launchOptions) error {
	l := &launchedProcess{App: a, definition: d, options: o}
	if o.recordedRepliesFile != "" {
		l.recording = &server.RepliesRecording{Path: o.recordedRepliesFile}
		l.options.hostOptions.ReplyRecorder = l.recording.RecordReply
	}
	session, err := openSession(ctx, p, l.options)
	if err != nil {
		return err
	}
	l.session = session
	err = l.run(ctx)
	l.session.Close()
	if recordErr := l.recording.Stop(); recordErr != nil {
		a.Note("%s", recordErr)
		if err == nil {
			err = exit.WithCode(exit.Failed)
		}
	}
	return err
}

// openSession opens the session that the options ask for.
func openSession(ctx context.Context, p server.Place, o launchOptions) (*server.Session, error) {
	if o.isDetached {
		s, err := p.Connect(ctx)
		if err != nil && p.RemoteTemporal == nil {
			return nil,
				exit.Usagef(`detach: no server runs in %s to continue the process; start one with "%s dev"`,
					p.DataFolder, print.ProgramName)
		}
		return s, err
	}
	s, err := p.OpenSession(ctx, o.hostOptions)
	if err == nil && o.recordedRepliesFile != "" && !s.RunsServer {
		s.Close()
		return nil,
			exit.Usagef(
				"record %s: the worker that asks the LLM is not in this program: another program runs the server in %s",
				o.recordedRepliesFile, p.DataFolder)
	}
	return s, err
}
