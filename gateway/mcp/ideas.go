package mcp

import (
	"cmp"
	"regexp"

	"processidea/client/ideafiles"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// startableIdea is an Idea file of the folder.
type startableIdea struct {
	name string // as in the name of its tool
	*ideafiles.Definition
}

// invalidIdeaNameChars matches characters that are not allowed in the name of a tool.
var invalidIdeaNameChars = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

const maxIdeaNameLength = 50

// startableIdeas reads the folder: each Idea file, and each folder that forms an Idea. Broken ones are left out and
// logged.
func (s *Server) startableIdeas() (ideas []startableIdea) {
	if s.IdeaFolder == "" {
		return nil
	}
	sources, err := ideafiles.FindAll(s.IdeaFolder)
	if err != nil {
		s.Log.Error("the folder of Ideas cannot be read", "error", err)
		return nil
	}
	seenNames, tools := map[string]bool{}, s.Tools
	tools.HasOtherWorkers = true // only the workers know what runs the Tools
	for _, source := range sources {
		name := invalidIdeaNameChars.ReplaceAllString(source.Name(), "_")
		name = name[:min(len(name), maxIdeaNameLength)]
		d, err := ideafiles.LoadWithoutInstances(source, tools)
		switch {
		case err != nil:
			s.Log.Warn("an Idea file is left out", "file", source.GivenPath, "error", err)
		case seenNames[name]:
			s.Log.Warn("an Idea file is left out: another one has its name", "file", source.GivenPath)
		default:
			seenNames[name] = true
			ideas = append(ideas, startableIdea{name, d})
		}
	}
	return ideas
}

// inputSchema returns the Idea's schema for the input of its instances, or else one for any object.
func (s startableIdea) inputSchema() any {
	schema := ideafile.InstanceViewOf(s.ParsedIdea.Context, "").SchemaByKind[ideafile.TypeInput]
	if m, ok := schema.(jsonval.Object); ok && m["type"] == "object" {
		return m
	}
	return jsonval.Object{"type": "object"}
}

const maxShownInstructionChars = 800 // characters

// toolDescription describes the tool that starts the process to an agent.
func (s startableIdea) toolDescription() string {
	text := "Starts the process " + cmp.Or(s.ParsedIdea.ProcessPath, s.name) +
		", and gives its id and, where it ends soon, its result."
	for _, m := range s.ParsedIdea.Context {
		if payload, ok := m.Payload.(string); ok && m.PayloadKind == ideafile.TypeText && m.InstanceToken == "" {
			return text + " What it is told: " + jsonval.Clip(payload, maxShownInstructionChars)
		}
	}
	return text
}
