package simulation

import (
	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/internal/kind"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/simulate"
)

// Options say who plans, and who plays the Tools.
type Options struct {
	// UsesOnlySchemas asks no LLM and no script: Plans and values are made up from the schemas.
	UsesOnlySchemas bool
	// ToolResultsFrom is who plays the Tools: ideafile.FakedByLLM or ideafile.FakedBySchemas; empty: whoever plans.
	ToolResultsFrom string
	// WorkersHaveLLM: the workers have an LLM to ask. It plans, unless replies were given.
	WorkersHaveLLM bool
}

// PreparedProcess is a simulated process before its start.
type PreparedProcess struct {
	*ideafiles.Definition
	Simulation ideafile.Simulation // who plans, and who plays the Tools
	MadeUpRefs []string            // References whose values were made up
	// UnaskedMCPServers are the MCP servers whose tools are unknown, since a simulation asks no server.
	UnaskedMCPServers []string
}

// Prepare reads the files of a process, makes up the data that they leave out, and marks the Idea as simulated. It also
// returns the warnings. The error is an *ideafiles.InvalidError if the files have mistakes, and wraps
// client.ErrInvalid.
func Prepare(s ideafiles.Source, tools ideafiles.WorkerTools, o Options) (*PreparedProcess, diag.Problems, error) {
	if o.UsesOnlySchemas || (o.WorkersHaveLLM && !s.AreRepliesFromCaller) {
		s.RepliesPath = ""
	}
	prepared := &PreparedProcess{}
	d, problems, err := ideafiles.LoadAndChange(s, tools, func(d *ideafiles.Definition) {
		prepared.Simulation = o.chooseSimulation(d)
		prepared.markSimulated(d)
	})
	if err != nil {
		return nil, nil, err
	}
	if len(problems.Errors()) > 0 {
		return nil, nil, &ideafiles.InvalidError{Source: s.GivenPath, Problems: problems}
	}
	if prepared.Simulation.ToolResultsFrom == ideafile.FakedByLLM &&
		prepared.Simulation.LLMRepliesFrom != ideafile.FakedByLLM {
		return nil, nil, kind.Errorf(client.ErrInvalid,
			"simulate %s: no LLM is configured to play the Tools: set OPENAI_API_KEY or OPENAI_BASE_URL",
			s.GivenPath)
	}
	prepared.Definition = d
	return prepared, problems, nil
}

// chooseSimulation returns who answers the Requests and who plays the Tools.
func (o Options) chooseSimulation(d *ideafiles.Definition) ideafile.Simulation {
	simulation := ideafile.Simulation{ToolResultsFrom: o.ToolResultsFrom, LLMRepliesFrom: ideafile.FakedBySchemas}
	switch {
	case o.UsesOnlySchemas:
	case d.RepliesText != "":
		simulation.LLMRepliesFrom = ideafile.RecordedReplies
	case o.WorkersHaveLLM:
		simulation.LLMRepliesFrom = ideafile.FakedByLLM
	}
	if simulation.ToolResultsFrom == "" {
		simulation.ToolResultsFrom = ideafile.FakedBySchemas
		if simulation.LLMRepliesFrom == ideafile.FakedByLLM {
			simulation.ToolResultsFrom = ideafile.FakedByLLM
		}
	}
	return simulation
}

// markSimulated adds the made-up data and the mark of a simulation to the Idea.
func (p *PreparedProcess) markSimulated(d *ideafiles.Definition) {
	fakedMessages, fakedReferences := simulate.FakeInputs(d.ParsedIdea)
	for _, server := range d.ParsedIdea.MCPServersToAskForTools() {
		p.UnaskedMCPServers = append(p.UnaskedMCPServers, server.Name)
	}
	p.MadeUpRefs = fakedReferences
	d.Idea = ideafiles.WithMessages(p.Simulation.MarkIdea(d.Idea), fakedMessages)
	d.ParsedIdea, _ = ideafile.ReadIdea(d.Idea) // its mistakes are reported already
}

// StartOptions returns the options that start the simulation under an id.
func (p *PreparedProcess) StartOptions(id string) client.StartOptions {
	return client.StartOptions{ID: id, Idea: p.Idea, ScriptedReplies: p.RepliesText, DelegateFiles: p.DelegateFiles}
}
