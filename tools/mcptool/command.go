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
	commandWords     []string
	allowsMoreWords  bool // any words may follow
	settableEnvNames []string
}

// CheckAllowedCommands returns the error in a list of commands.
func CheckAllowedCommands(text string) error {
	_, err := parseAllowedCommands(text)
	return err
}

func parseAllowedCommands(text string) ([]allowedCommand, error) {
	var list []allowedCommand
	for entry := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		c := allowedCommand{commandWords: strings.Fields(entry)}
		for len(c.commandWords) > 0 && strings.HasSuffix(c.commandWords[0], "=") && len(c.commandWords[0]) > 1 {
			c.settableEnvNames, c.commandWords = append(c.settableEnvNames, strings.TrimSuffix(c.commandWords[0], "=")),
				c.commandWords[1:]
		}
		if n := len(c.commandWords); n > 0 && c.commandWords[n-1] == "*" {
			c.allowsMoreWords, c.commandWords = true, c.commandWords[:n-1]
		}
		entry = strings.TrimSpace(entry)
		switch {
		case entry != "" && (len(c.commandWords) == 0 || c.commandWords[0] == "*" ||
			strings.Contains(c.commandWords[0], "=")):
			return nil, fmt.Errorf("mcptool: parse %s: entry %q names no program", CommandsVariable, entry)
		case slices.ContainsFunc(c.commandWords, func(w string) bool { return strings.ContainsAny(w[:1], `'"`) }):
			return nil, fmt.Errorf("mcptool: parse %s: entry %q: white space separates words, and quotes do not "+
				"join them", CommandsVariable, entry)
		}
		if len(c.commandWords) > 0 {
			list = append(list, c)
		}
	}
	return list, nil
}

// matchesCommand reports whether the entry matches a server's command.
func (c allowedCommand) matchesCommand(words []string) bool {
	return slices.Equal(c.commandWords, words) ||
		(c.allowsMoreWords && len(words) > len(c.commandWords) &&
			slices.Equal(c.commandWords, words[:len(c.commandWords)]))
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

// checkCommandAllowed returns why a server's command may not be run.
func (h *Hub) checkCommandAllowed(server ideafile.MCPServer) error {
	if h.allowedCommandsErr != nil {
		return disallowedError{h.allowedCommandsErr}
	}
	var unsettableVariable string
	for _, c := range h.allowedCommands {
		if !c.matchesCommand(server.Command) {
			continue
		}
		unsettableVariable = ""
		for _, name := range jsonval.SortedKeys(server.Env) {
			if !slices.Contains(c.settableEnvNames, name) {
				unsettableVariable = name
			}
		}
		if unsettableVariable == "" {
			return nil
		}
	}
	if unsettableVariable != "" {
		return disallowedError{fmt.Errorf("the variable %s may not be set: write %s= before the command in %s",
			unsettableVariable, unsettableVariable, CommandsVariable)}
	}
	return disallowedError{fmt.Errorf("the command %q is not in %s", CommandEntryFor(server), CommandsVariable)}
}

// inheritedVariables are the variables that a command inherits from the worker. None of them holds a secret.
var inheritedVariables = []string{"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"}

func labelUnlessEmpty(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}

// newProgramTransport returns the transport to a program that is run for the server.
func (h *Hub) newProgramTransport(server ideafile.MCPServer, c *conn) (mcp.Transport, func() string, error) {
	if err := h.checkCommandAllowed(server); err != nil {
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
	c.hasSentTooLargeMessage = p.hasSeenTooLargeMessage.Load
	return p, func() string {
		return labelUnlessEmpty("; it wrote: ", stderr.redactedTail()) +
			labelUnlessEmpty("; on standard output, where nothing but messages of the protocol may stand, it wrote: ",
				strayOutput.redactedTail())
	}, nil
}
