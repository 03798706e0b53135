package main

import (
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/simulate"
)

// simulation is what a simulated process is started from.
type simulation struct {
	*material
	by     ideafile.Simulation
	madeUp []string // References whose values were made up
	// silent are the MCP servers that were not asked for their tools.
	silent []string
}

// prepareSimulation reads the files, makes up what they leave out, and marks the Idea.
func (a *app) prepareSimulation(given string, o *simulateOptions) (*simulation, error) {
	made := &simulation{}
	if o.schemas || llmHere() && !o.source.scripted {
		o.source.replies = ""
	}
	m, problems, err := loadAs(o.source, knownTools(place{}), func(m *material) {
		made.by = o.players(m)
		made.mark(m)
	})
	if err != nil {
		return nil, err
	}
	if len(problems.Errors()) > 0 {
		return nil, &invalid{given, problems}
	}
	if made.by.Tools == ideafile.FakedByLLM && made.by.Plans != ideafile.FakedByLLM {
		return nil, misuse("simulate %s: no LLM is configured that would play the Tools: set OPENAI_API_KEY or OPENAI_BASE_URL", given)
	}
	a.complain(given, problems)
	made.material = m
	a.introduceSimulation(made)
	return made, nil
}

// players says who answers the Requests and who plays the Tools.
func (o *simulateOptions) players(m *material) ideafile.Simulation {
	s := ideafile.Simulation{Tools: o.tools, Plans: ideafile.FakedBySchemas}
	switch {
	case o.schemas:
	case m.script != "":
		s.Plans = ideafile.RecordedReplies
	case llmHere():
		s.Plans = ideafile.FakedByLLM
	}
	if s.Tools == "" {
		s.Tools = ideafile.FakedBySchemas
		if s.Plans == ideafile.FakedByLLM {
			s.Tools = ideafile.FakedByLLM
		}
	}
	return s
}

// mark makes the material a simulation's: with the data that nobody gives, and the mark.
func (s *simulation) mark(m *material) {
	messages, names := simulate.FakeInputs(m.read)
	context, _ := m.idea["context"].([]any)
	idea := s.by.MarkIdea(m.idea)
	idea["context"] = append(context[:len(context):len(context)], messages...)
	for _, server := range m.read.ServersToList() {
		s.silent = append(s.silent, server.Name)
	}
	s.madeUp = names
	m.idea = idea
	m.read, _ = ideafile.ReadIdea(idea) // what is wrong with it is known by now
}

// introduceSimulation says who plays, and what was made up before anything began.
func (a *app) introduceSimulation(s *simulation) {
	plans := map[string]string{ideafile.FakedByLLM: "the LLM plans", ideafile.RecordedReplies: "recorded replies plan, " + s.source.replies,
		ideafile.FakedBySchemas: "Plans are made up from the schemas"}[s.by.Plans]
	tools := map[string]string{ideafile.FakedByLLM: "the LLM plays the Tools", ideafile.FakedBySchemas: "results are made up from the schemas"}[s.by.Tools]
	a.note("simulation: nothing outside is touched; %s, and %s", plans, tools)
	if len(s.madeUp) > 0 {
		a.note("simulation: made up, since nobody gives it: %s", strings.Join(s.madeUp, ", "))
	}
	if len(s.silent) > 0 {
		a.note("simulation: not asked for their tools, which have no schema here: MCP servers %s; simulate an Idea in which they are listed (starter show)",
			strings.Join(slices.Sorted(slices.Values(s.silent)), ", "))
	}
}
