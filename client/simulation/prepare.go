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
	// FromSchemas asks no LLM and no script: Plans and values are made up from the schemas.
	FromSchemas bool
	// ToolPlayer is who plays the Tools: ideafile.FakedByLLM or ideafile.FakedBySchemas; empty: whoever plans.
	ToolPlayer string
	// HasLLM: the workers have an LLM to ask. It plans, unless replies were given.
	HasLLM bool
}

// Prepared is a simulated process before its start.
type Prepared struct {
	*ideafiles.Definition
	Players    ideafile.Simulation // who plans, and who plays the Tools
	MadeUpRefs []string            // References whose values were made up
	// UnaskedMCPServers are the MCP servers whose tools are unknown, since a simulation asks no server.
	UnaskedMCPServers []string
}

// Prepare reads the files of a process, makes up the data that they leave out, and marks the Idea as simulated. It also
// returns the warnings. The error is an *ideafiles.InvalidError if the files have mistakes, and wraps
// client.ErrInvalid.
func Prepare(s ideafiles.Source, tools ideafiles.Tools, o Options) (*Prepared, diag.Problems, error) {
	if o.FromSchemas || (o.HasLLM && !s.RepliesGiven) {
		s.Replies = ""
	}
	result := &Prepared{}
	d, problems, err := ideafiles.LoadWith(s, tools, func(d *ideafiles.Definition) {
		result.Players = o.choosePlayers(d)
		result.markSimulated(d)
	})
	if err != nil {
		return nil, nil, err
	}
	if len(problems.Errors()) > 0 {
		return nil, nil, &ideafiles.InvalidError{Source: s.Path, Problems: problems}
	}
	if result.Players.ToolResultsFrom == ideafile.FakedByLLM && result.Players.LLMRepliesFrom != ideafile.FakedByLLM {
		return nil, nil, kind.Errorf(client.ErrInvalid,
			"simulate %s: no LLM is configured to play the Tools: set OPENAI_API_KEY or OPENAI_BASE_URL",
			s.Path)
	}
	result.Definition = d
	return result, problems, nil
}

// choosePlayers returns who answers the Requests and who plays the Tools.
func (o Options) choosePlayers(d *ideafiles.Definition) ideafile.Simulation {
	simulationPlayers := ideafile.Simulation{ToolResultsFrom: o.ToolPlayer, LLMRepliesFrom: ideafile.FakedBySchemas}
	switch {
	case o.FromSchemas:
	case d.Replies != "":
		simulationPlayers.LLMRepliesFrom = ideafile.RecordedReplies
	case o.HasLLM:
		simulationPlayers.LLMRepliesFrom = ideafile.FakedByLLM
	}
	if simulationPlayers.ToolResultsFrom == "" {
		simulationPlayers.ToolResultsFrom = ideafile.FakedBySchemas
		if simulationPlayers.LLMRepliesFrom == ideafile.FakedByLLM {
			simulationPlayers.ToolResultsFrom = ideafile.FakedByLLM
		}
	}
	return simulationPlayers
}

// markSimulated adds the made-up data and the mark of a simulation to the Idea.
func (p *Prepared) markSimulated(d *ideafiles.Definition) {
	messages, names := simulate.FakeInputs(d.Parsed)
	for _, server := range d.Parsed.MCPServersToAskForTools() {
		p.UnaskedMCPServers = append(p.UnaskedMCPServers, server.Name)
	}
	p.MadeUpRefs = names
	d.Idea = ideafiles.WithMessages(p.Players.MarkIdea(d.Idea), messages)
	d.Parsed, _ = ideafile.ReadIdea(d.Idea) // its mistakes are reported already
}

// StartOptions returns the options that start the simulation under an id.
func (p *Prepared) StartOptions(id string) client.StartOptions {
	return client.StartOptions{ID: id, Idea: p.Idea, Replies: p.Replies, Delegates: p.Delegates}
}
