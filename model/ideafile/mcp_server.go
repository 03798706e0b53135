package ideafile

import (
	"regexp"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// MCPServer is a server of `config.mcp`: a command that a worker starts, or a URL.
type MCPServer struct {
	Name string `json:"name"`
	// Command is a program and its arguments, Env its environment. $env:NAME in a value is replaced by a secret of the
	// worker.
	Command []string          `json:"command,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// URL is the endpoint of a server that speaks streamable HTTP; Headers are sent with every request.
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// ToolNames are the names of the server's tools that join the palette; nil: all.
	ToolNames []string `json:"-"`
	// OmissionNotes say which of the server's tools, or parts of them, are left out, and why. They are written when the
	// process starts.
	OmissionNotes []string `json:"-"`
}

// maxMCPServerNameBytes bounds a server's name in bytes: the names of its Tools begin with it.
const maxMCPServerNameBytes = 32

var mcpServerNamePattern = regexp.MustCompile(`^[A-Za-z0-9-][A-Za-z0-9_-]*$`)

// ReadMCPServers reads `config.mcp`: servers by name.
func ReadMCPServers(servers jsonval.Object, path string, ps *diag.Problems) []MCPServer {
	var list []MCPServer
	for name, v := range jsonval.Sorted(servers) {
		serverPath := jsonval.JSONPathWithKey(path, name)
		m, ok := v.(jsonval.Object)
		if !ok {
			ps.AddWrongType(serverPath, "a server is an object", v)
			continue
		}
		if len(name) > maxMCPServerNameBytes || !mcpServerNamePattern.MatchString(name) {
			ps.Add(serverPath, "a server's name has 1 to %d letters, digits, - and _, and does not begin with _",
				maxMCPServerNameBytes)
		}
		list = append(list, readMCPServer(name, m, serverPath, ps))
	}
	return list
}

func readMCPServer(name string, m jsonval.Object, path string, ps *diag.Problems) MCPServer {
	s := MCPServer{Name: name}
	for k, v := range jsonval.Sorted(m) {
		var ok bool
		switch k {
		case "command":
			s.Command, ok = jsonval.AsStringList(v)
			ok = ok && len(s.Command) > 0 && s.Command[0] != ""
		case "env":
			s.Env, ok = readStringMap(v)
		case "url":
			s.URL, ok = v.(string)
			ok = ok && s.URL != ""
		case "headers":
			s.Headers, ok = readStringMap(v)
		case "tools":
			s.ToolNames, ok = jsonval.AsStringList(v)
		case "notes":
			s.OmissionNotes, ok = jsonval.AsStringList(v)
		default:
			ps.AddAtKey(path, k,
				"unknown key %q; a server has command and env, or url and headers, tools and notes", k)
			continue
		}
		if !ok {
			ps.AddAtKey(path, k, "%s", errorByMCPServerKey[k])
		}
	}
	hasCommand, hasURL := m["command"] != nil, m["url"] != nil
	if hasCommand == hasURL || (hasCommand && s.Headers != nil) || (hasURL && s.Env != nil) {
		ps.Add(path, "a server has command and env, or url and headers")
	}
	return s
}

var errorByMCPServerKey = map[string]string{
	"command": `want a list of texts: a program and its arguments`,
	"env":     `want an object of texts: variables of the command`,
	"url":     `want a URL`,
	"headers": `want an object of texts`,
	"tools":   `want a list of the server's tools`,
	"notes":   "want a list of texts: notes on what is left out of the server's tools",
}

func readStringMap(v any) (map[string]string, bool) {
	m, ok := v.(jsonval.Object)
	out := make(map[string]string, len(m))
	for k, value := range jsonval.Sorted(m) {
		s, isText := value.(string)
		out[k], ok = s, ok && isText && k != ""
	}
	return out, ok
}
