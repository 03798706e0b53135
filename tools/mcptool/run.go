package mcptool

import (
	"context"
	"errors"

	"processidea/model/ideafile"
	"processidea/tools"
	"processidea/tools/runner"
)

// Validate returns the error in an ideafile.MCPRunnerSpec. With Run it makes a Hub the runner.Runner of
// ideafile.KindMCP.
func (h *Hub) Validate(spec any) error {
	_, err := readSpec(spec)
	return err
}

// MissingRequirements lists why this worker cannot use the server of a Tool.
func (h *Hub) MissingRequirements(spec any) []error {
	s, err := readSpec(spec)
	if err != nil {
		return nil
	}
	if len(s.Server.Command) == 0 {
		return h.options.HTTP.MissingRequirementsAt(s.Server.URL, s.Server.Headers)
	}
	list := h.options.HTTP.MissingRequirementsAt("", s.Server.Env)
	if err := h.checkCommandAllowed(*s.Server); err != nil {
		list = append(list, err)
	}
	return list
}

// Run runs a Call of a tool of an MCP server, if the tool is still the pinned one. Errors of the server are of type
// *Error.
func (h *Hub) Run(ctx context.Context, in runner.Input) (any, error) {
	spec, err := readSpec(in.Spec)
	if err != nil {
		return nil, tools.Final(err)
	}
	return h.runCall(ctx, *spec.Server, spec.Tool, in)
}

func readSpec(spec any) (ideafile.MCPRunnerSpec, error) {
	s, err := runner.DecodeSpec[ideafile.MCPRunnerSpec](spec)
	if err == nil && s.Server == nil {
		err = errors.New("config.mcp does not name the tool's server")
	}
	return s, err
}
