package mcp

import (
	"cmp"
	"regexp"

	"processidea/client/ideafiles"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// startable is an Idea file of the folder.
type startable struct {
	name string // as in the name of its tool
	*ideafiles.Definition
}

// notOfNames matches characters that are not allowed in the name of a tool.
var notOfNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

const maxNameLength = 50

// startables reads the folder: each Idea file, and each folder that forms an Idea. Broken ones are left out and logged.
func (s *Server) startables() (all []startable) {
	if s.Ideas == "" {
		return nil
	}
	sources, err := ideafiles.FindAll(s.Ideas)
	if err != nil {
		s.Log.Error("the folder of Ideas cannot be read", "error", err)
		return nil
	}
	seen, known := map[string]bool{}, s.Tools
	known.OtherWorkers = true // only the workers know what runs the Tools
	for _, source := range sources {
		name := notOfNames.ReplaceAllString(source.Name(), "_")
		name = name[:min(len(name), maxNameLength)]
		d, err := ideafiles.LoadAlone(source, known)
		switch {
		case err != nil:
			s.Log.Warn("an Idea file is left out", "file", source.Given, "error", err)
		case seen[name]:
			s.Log.Warn("an Idea file is left out: another one has its name", "file", source.Given)
		default:
			seen[name] = true
			all = append(all, startable{name, d})
		}
	}
	return all
}

// inputSchema returns the Idea's schema for the input of its instances, or else one for any object.
func (s startable) inputSchema() any {
	schema := ideafile.InstanceViewOf(s.Read.Context, "").SchemaByKind[ideafile.TypeInput]
	if m, ok := schema.(jsonval.Object); ok && m["type"] == "object" {
		return m
	}
	return jsonval.Object{"type": "object"}
}

const maxDescriptionLength = 800 // characters

// description describes the tool that starts the process to an agent.
func (s startable) description() string {
	text := "Starts the process " + cmp.Or(s.Read.ProcessPath, s.name) +
		", and gives its id and, where it ends soon, its result."
	for _, m := range s.Read.Context {
		if isText, ok := m.Payload.(string); ok && m.PayloadKind == ideafile.TypeText && m.InstanceToken == "" {
			return text + " What it is told: " + jsonval.Clip(isText, maxDescriptionLength)
		}
	}
	return text
}
