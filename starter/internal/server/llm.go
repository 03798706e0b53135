package server

import (
	"os"

	"processidea/client/ideafiles"
	"processidea/model/loop"
	"processidea/starter/internal/exit"
	"processidea/worker/engine"
)

// EnvironmentHasLLM reports whether this program's environment names an LLM.
func EnvironmentHasLLM() bool { return engine.LLMFromEnvironment(os.Getenv).IsConfigured() }

// ChooseReplySource decides who answers a process's Requests. Recorded replies answer if they were asked for, or if the
// folder has some and no LLM is configured; otherwise the LLM answers. It refuses a process that nobody would answer,
// unless its Plan runs without a Request.
func (p Place) ChooseReplySource(d *ideafiles.Definition) error {
	if !d.Source.AreRepliesFromCaller && EnvironmentHasLLM() {
		d.RepliesText = ""
	}
	if d.RepliesText != "" {
		return nil
	}
	serverInfo, isRunning := p.RunningServer()
	switch {
	case !p.needsLLM(d):
	case p.RemoteTemporal != nil: // the workers know whether there is an LLM
	case isRunning && serverInfo.HasWorker && !serverInfo.HasLLM && !p.IsServerAbandoned():
		return exit.Usagef("run %s: the worker's program (process %d) has no LLM configured: start it with "+
			"OPENAI_API_KEY or OPENAI_BASE_URL, or give recorded replies with --replies",
			d.Source.GivenPath, serverInfo.PID)
	case isRunning && !p.IsServerAbandoned(): // the worker there has an LLM, or the worker is in another program
	case !EnvironmentHasLLM():
		return exit.Usagef("run %s: no LLM is configured: set OPENAI_API_KEY or OPENAI_BASE_URL, or give recorded "+
			"replies with --replies",
			d.Source.GivenPath)
	}
	return nil
}

// needsLLM reports whether a process, or a delegate that its Plans call, needs an LLM even if nothing goes wrong.
func (p Place) needsLLM(d *ideafiles.Definition) bool {
	return loop.DelegateIdeaFiles{IdeaFilesByPath: d.DelegateFiles,
		ToolBindingsFor: p.Tools().Bind}.IdeaNeedsLLM(d.ParsedIdea)
}
