package mcptool

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// CommandsVariable is the environment variable that lists the commands which Idea files may make a worker run,
// separated by ;: `npx -y @modelcontextprotocol/server-filesystem /data; TOKEN= tickets-mcp *`. All words must be
// equal; * at the end matches any further words. A file may set the variables that stand before the command and end
// with =.
const CommandsVariable = "PROCESSIDEA_MCP_COMMANDS"

// allowedCommand is one entry of the list.
type allowedCommand struct {
	words           []string
	allowsMoreWords bool // any words may follow
	envNames        []string
}

// CheckCommands returns the error in a list of commands.
func CheckCommands(text string) error {
	_, err := parseCommands(text)
	return err
}

func parseCommands(text string) ([]allowedCommand, error) {
	var list []allowedCommand
	for entry := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		c := allowedCommand{words: strings.Fields(entry)}
		for len(c.words) > 0 && strings.HasSuffix(c.words[0], "=") && len(c.words[0]) > 1 {
			c.envNames, c.words = append(c.envNames, strings.TrimSuffix(c.words[0], "=")), c.words[1:]
		}
		if n := len(c.words); n > 0 && c.words[n-1] == "*" {
			c.allowsMoreWords, c.words = true, c.words[:n-1]
		}
		entry = strings.TrimSpace(entry)
		switch {
		case entry != "" && (len(c.words) == 0 || c.words[0] == "*" || strings.Contains(c.words[0], "=")):
			return nil, fmt.Errorf("mcptool: parse %s: entry %q names no program", CommandsVariable, entry)
		case slices.ContainsFunc(c.words, func(w string) bool { return strings.ContainsAny(w[:1], `'"`) }):
			return nil, fmt.Errorf("mcptool: parse %s: entry %q: white space separates words, and quotes do not "+
				"join them", CommandsVariable, entry)
		}
		if len(c.words) > 0 {
			list = append(list, c)
		}
	}
	return list, nil
}

// allows reports whether the entry matches a server's command.
func (c allowedCommand) allows(words []string) bool {
	return slices.Equal(c.words, words) ||
		(c.allowsMoreWords && len(words) > len(c.words) && slices.Equal(c.words, words[:len(c.words)]))
}

// CommandEntryFor returns the entry of the list that admits a server's command with its variables. If an entry cannot
// hold one of the words, it ends there with *.
func CommandEntryFor(server ideafile.MCPServer) string {
	var words []string
	for _, name := range jsonval.SortedKeys(server.Env) {
		words = append(words, name+"=")
	}
	for n, word := range server.Command {
		if n > 0 && (word == "" || word[0] == '\'' || word[0] == '"' || strings.ContainsAny(word, ";\n \t")) {
			return strings.Join(append(words, "*"), " ")
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// checkAllowed returns why a server's command may not be run.
func (h *Hub) checkAllowed(server ideafile.MCPServer) error {
	if h.commandsErr != nil {
		return disallowedError{h.commandsErr}
	}
	var missingVariable string
	for _, c := range h.commands {
		if !c.allows(server.Command) {
			continue
		}
		missingVariable = ""
		for _, name := range jsonval.SortedKeys(server.Env) {
			if !slices.Contains(c.envNames, name) {
				missingVariable = name
			}
		}
		if missingVariable == "" {
			return nil
		}
	}
	if missingVariable != "" {
		return disallowedError{fmt.Errorf("the variable %s may not be set: write %s= before the command in %s",
			missingVariable, missingVariable, CommandsVariable)}
	}
	return disallowedError{fmt.Errorf("the command %q is not in %s", CommandEntryFor(server), CommandsVariable)}
}

// inheritedVariables are the variables that a command inherits from the worker. None of them holds a secret.
var inheritedVariables = []string{"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"}

func labelIfPresent(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}

// newProgramTransport returns the transport to a program that is run for the server.
func (h *Hub) newProgramTransport(server ideafile.MCPServer, c *conn) (mcp.Transport, func() string, error) {
	if err := h.checkAllowed(server); err != nil {
		return nil, nil, err
	}
	_, filledEnv, redactor, err := h.options.HTTP.FillSecrets("", server.Env)
	if err != nil {
		return nil, nil, disallowedError{fmt.Errorf("env: %w", err)}
	}
	c.redactor = redactor
	cmd := exec.CommandContext(h.ctx, server.Command[0], server.Command[1:]...)
	if errors.Is(cmd.Err, exec.ErrNotFound) {
		return nil, nil, fmt.Errorf("run %s: there is no such program", server.Command[0])
	}
	for _, name := range inheritedVariables {
		if v, ok := h.options.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	for name, value := range filledEnv {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	detachFromTerminal(cmd)
	stderr := &outputTail{log: h.options.Log.With("mcp", server.Name), redactor: redactor}
	cmd.Stderr = stderr
	strayOutput := &outputTail{log: stderr.log, redactor: redactor}
	p := &programTransport{conn: c, cmd: cmd, strayOutput: strayOutput}
	c.hasSentTooLarge = p.hasSeenTooLarge.Load
	return p, func() string {
		return labelIfPresent("; it wrote: ", stderr.text()) +
			labelIfPresent("; on standard output, where nothing but messages of the protocol may stand, it wrote: ",
				strayOutput.text())
	}, nil
}
