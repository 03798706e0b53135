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
	// Schemas asks no LLM and no script: Plans and values are made up from the schemas.
	Schemas bool
	// Tools is who plays the Tools: ideafile.FakedByLLM or ideafile.FakedBySchemas; empty: whoever plans.
	Tools string
	// LLM: the workers have an LLM to ask. It plans, unless replies were given.
	LLM bool
}

// Prepared is a simulated process before its start.
type Prepared struct {
	*ideafiles.Definition
	By     ideafile.Simulation // who plans, and who plays the Tools
	MadeUp []string            // References whose values were made up
	// Unasked are the MCP servers whose tools are unknown, since a simulation asks no server.
	Unasked []string
}

// Prepare reads the files of a process, makes up the data that they leave out, and marks the Idea as simulated. It also
// returns the warnings. The error is an *ideafiles.InvalidError if the files have mistakes, and wraps
// client.ErrInvalid.
func Prepare(s ideafiles.Source, known ideafiles.Tools, o Options) (*Prepared, diag.Problems, error) {
	if o.Schemas || (o.LLM && !s.RepliesGiven) {
		s.Replies = ""
	}
	made := &Prepared{}
	d, problems, err := ideafiles.LoadWith(s, known, func(d *ideafiles.Definition) {
		made.By = o.players(d)
		made.mark(d)
	})
	if err != nil {
		return nil, nil, err
	}
	if len(problems.Errors()) > 0 {
		return nil, nil, &ideafiles.InvalidError{Source: s.Given, Problems: problems}
	}
	if made.By.ToolResultsFrom == ideafile.FakedByLLM && made.By.LLMRepliesFrom != ideafile.FakedByLLM {
		return nil, nil, kind.Errorf(client.ErrInvalid,
			"simulate %s: no LLM is configured to play the Tools: set OPENAI_API_KEY or OPENAI_BASE_URL",
			s.Given)
	}
	made.Definition = d
	return made, problems, nil
}

// players returns who answers the Requests and who plays the Tools.
func (o Options) players(d *ideafiles.Definition) ideafile.Simulation {
	by := ideafile.Simulation{ToolResultsFrom: o.Tools, LLMRepliesFrom: ideafile.FakedBySchemas}
	switch {
	case o.Schemas:
	case d.Replies != "":
		by.LLMRepliesFrom = ideafile.RecordedReplies
	case o.LLM:
		by.LLMRepliesFrom = ideafile.FakedByLLM
	}
	if by.ToolResultsFrom == "" {
		by.ToolResultsFrom = ideafile.FakedBySchemas
		if by.LLMRepliesFrom == ideafile.FakedByLLM {
			by.ToolResultsFrom = ideafile.FakedByLLM
		}
	}
	return by
}

// mark adds the made-up data and the mark of a simulation to the Idea.
func (p *Prepared) mark(d *ideafiles.Definition) {
	messages, names := simulate.FakeInputs(d.Read)
	for _, server := range d.Read.MCPServersToAskForTools() {
		p.Unasked = append(p.Unasked, server.Name)
	}
	p.MadeUp = names
	d.Idea = ideafiles.WithMessages(p.By.MarkIdea(d.Idea), messages)
	d.Read, _ = ideafile.ReadIdea(d.Idea) // its mistakes are reported already
}

// StartOptions returns the options that start the simulation under an id.
func (p *Prepared) StartOptions(id string) client.StartOptions {
	return client.StartOptions{ID: id, Idea: p.Idea, Replies: p.Replies, Delegates: p.Delegates}
}
