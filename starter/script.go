package main

import (
	"os"

	"processidea/model/loop"
	"processidea/worker/engine"
)

// llmHere says whether this program's environment names an LLM.
func llmHere() bool { return engine.LLMFromEnvironment(os.Getenv).Configured() }

// chooseScript decides who answers a process's Requests: the script where one was asked for, or where one lies in the
// folder and no LLM is configured; the LLM otherwise. A process that nobody would answer is refused, unless its Plan runs
// without a Request.
func (p place) chooseScript(m *material) error {
	if !m.source.scripted && llmHere() {
		m.script = ""
	}
	if m.script != "" {
		return nil
	}
	n, there := p.neighbour()
	known := knownTools(p)
	switch {
	case !loop.NeedsLLM(m.read, known.bind(m.read).Bindings):
	case p.remote != nil: // the LLM is the workers' affair
	case there && n.Worker && !n.LLM && !p.abandoned():
		return misuse("run %s: no LLM is configured where the worker runs, in program %d: "+
			"start that with OPENAI_API_KEY or OPENAI_BASE_URL, or give recorded replies with --replies", m.source.given, n.PID)
	case there && !p.abandoned(): // as above
	case !llmHere():
		return misuse("run %s: no LLM is configured: set OPENAI_API_KEY or OPENAI_BASE_URL, or give recorded replies with --replies",
			m.source.given)
	}
	return nil
}
