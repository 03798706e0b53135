package mcptool

import (
	"errors"
	"fmt"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/tools/httptool"
)

// CheckServerConfig returns the error in an Idea's MCP server, as far as it shows without contacting the server.
func CheckServerConfig(s ideafile.MCPServer) error {
	for _, part := range []struct {
		name  string
		texts map[string]string
	}{{"env", s.Env}, {"headers", s.Headers}, {"url", map[string]string{"": s.URL}}} {
		for name, text := range jsonval.Sorted(part.texts) {
			if err := httptool.CheckSecretReferences(text); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
			if part.name == "headers" && httptool.IsReservedHeader(name) {
				return fmt.Errorf("headers: %q cannot be set", name)
			}
		}
	}
	for _, word := range s.Command {
		if strings.Contains(word, "$env:") {
			return errors.New("command: a secret would stand in the list of processes; give it to the command in env")
		}
	}
	return nil
}
