// Package app is what all verbs of the command share: where they write, how they reach processes and chains, and how an
// error becomes lines on standard error and an exit code.
//
// Invariants: only the result goes to standard output. Every line on standard error begins with the program's name and
// holds one error, whatever text a value contains.
package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"processidea/client"
	gateway "processidea/gateway/server"
	"processidea/internal/flags"
	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
	"processidea/store/signing"
	"processidea/worker/engine"
)

// App is one call of the program.
type App struct {
	In         io.Reader // what is typed
	Out, Err   io.Writer // the result, and everything else
	WritesJSON bool      // the result is JSON
	DataFolder string    // the folder that --data names
	StorePlace string    // the store that --store names
	// Additions are the Go tools and the kinds of Tools that a program made with package command adds.
	Additions engine.Additions
	// TemporalHost runs the embedded server.
	TemporalHost server.TemporalHost
	// CallsMustSucceed makes Finish treat failed and blocked Calls as a failure.
	CallsMustSucceed bool
	HasVerbBegun     bool // a verb has begun: an error from here on is no misuse of the command line
}

// Place says where Temporal and the store are.
func (a *App) Place() (server.Place, error) {
	p, err := server.FindPlace(a.DataFolder, a.StorePlace, a.Note)
	p.Additions, p.TemporalHost = a.Additions, a.TemporalHost
	return p, err
}

// WithSession calls do with a session on the Temporal server. It is for verbs that start no server.
func (a *App) WithSession(ctx context.Context, do func(*server.Session) error) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	s, err := p.Connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s)
}

// WithProcess calls do with a process. It is for verbs that start no server.
func (a *App) WithProcess(ctx context.Context, id string, do func(*client.Process) error) error {
	return a.WithSession(ctx, func(s *server.Session) error {
		p, err := s.Attach(ctx, id)
		if err != nil {
			return err
		}
		return do(p)
	})
}

// WithArchive calls do with the chains of the store. No server is needed.
func (a *App) WithArchive(ctx context.Context, do func(*client.Archive) error) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	archive, err := p.OpenArchive(ctx)
	if err != nil {
		return err
	}
	defer archive.Close()
	return do(archive)
}

// PrintJSON writes a value as one line of JSON to standard output.
func (a *App) PrintJSON(v any) error { return print.WriteJSON(a.Out, v) }

// Print writes a text to standard output.
func (a *App) Print(text string) error {
	_, err := io.WriteString(a.Out, text)
	return err
}

// Show prints a value as JSON with --json, and its text otherwise.
func (a *App) Show(v any, text string) error {
	if a.WritesJSON {
		return a.PrintJSON(v)
	}
	return a.Print(text)
}

// PrintResult prints a Result and returns the error for its exit code. The Naming tells people the instances apart.
func (a *App) PrintResult(r loop.ProcessResult, naming print.InstanceNaming) error {
	var err error
	if a.WritesJSON {
		err = a.PrintJSON(r)
	} else {
		err = print.WriteResult(a.Out, r, naming)
	}
	if err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	code := exit.CodeOfResult(r)
	if code == exit.Done && a.CallsMustSucceed && r.Calls.Failed+r.Calls.Blocked > 0 {
		code = exit.Failed
	}
	if code != exit.Done {
		return exit.WithCode(code)
	}
	return nil
}

// AddFailOnFailedCallsFlag adds the flag that makes failed and blocked Calls count in the exit code.
func (a *App) AddFailOnFailedCallsFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.CallsMustSucceed, "fail-on-failed-calls", false,
		"exit with 1 if a Call failed or was blocked, even if the process made up for it")
}

// PrintError prints an error to standard error, one line for each joined error, and returns its exit code.
func (a *App) PrintError(err error) int {
	code := exit.CodeOf(err)
	var exitErr *exit.Error
	var invalid *client.InvalidError
	switch {
	case err == nil || errors.Is(err, context.Canceled): // only a signal cancels
		return code
	case errors.As(err, &invalid):
		a.PrintProblems(invalid.Source, invalid.Problems)
		return code
	case errors.As(err, &exitErr) && exitErr.Cause == nil:
		return code
	}
	for _, singleErr := range flags.SplitJoinedError(err) {
		a.Note("%s", singleErr)
	}
	if !a.HasVerbBegun && exitErr == nil {
		return exit.Usage
	}
	return code
}

const maxWarningsShown = 20 // a large palette may have one for each Tool

// PrintProblems prints problems, and the first warnings among them.
func (a *App) PrintProblems(file string, problems diag.Problems) {
	warningCount := 0
	for _, p := range problems {
		severityPrefix := ""
		if p.IsWarning {
			severityPrefix = "warning: "
			warningCount++
		}
		if warningCount <= maxWarningsShown || !p.IsWarning {
			a.Note("check %s: %s%s", file, severityPrefix, p)
		}
	}
	if more := warningCount - maxWarningsShown; more > 0 {
		a.Note("check %s: %d more warnings; check --json lists them all", file, more)
	}
}

var packagePrefixPattern = regexp.MustCompile(
	`^(activities|blobs|chain|client|codecserver|devserver|encryption|engine|model|rehearsal): `)

// Note writes one line to standard error. The program's name replaces a package's name, and line breaks become spaces.
func (a *App) Note(format string, args ...any) {
	text := print.OneLine(fmt.Sprintf(format, args...))
	// If standard error is closed, nobody can be told.
	_, _ = io.WriteString(a.Err, print.ProgramName+": "+packagePrefixPattern.ReplaceAllString(text, "")+"\n")
}

// UserName is the user's name, where it is known.
func UserName() string { return gateway.SystemUser(os.Getenv).Name }

// GroupsOrDefault returns the given groups. If there are none, it reads them from PROCESSIDEA_GROUPS, separated by
// commas.
func GroupsOrDefault(explicitGroups []string) []string {
	if len(explicitGroups) > 0 {
		return explicitGroups
	}
	return gateway.SystemUser(os.Getenv).Groups
}

// AddHostingFlags adds the flags of the embedded server.
func AddHostingFlags(c *cobra.Command, h *server.HostOptions) {
	const maxPort = 1<<16 - 1
	flags.Int(c.Flags(), &h.TemporalPort, "port", 0, maxPort,
		"`port` of the embedded server on 127.0.0.1 (default 0, a free one)")
	flags.Int(c.Flags(), &h.UIPort, "ui-port", -1, maxPort,
		"`port` of its web UI (default 0: 8233, or the next one that is free; -1: no UI)")
	flags.Int(c.Flags(), &h.GatewayPort, "gateway-port", -1, maxPort,
		"`port` of its HTTP API (default 0: 8300, or the next one that is free; -1: none)")
}

// CanPrompt reports whether there is a user at the terminal.
func (a *App) CanPrompt() bool {
	stdin, isFile := a.In.(*os.File)
	return !a.WritesJSON && isFile && term.IsTerminal(int(stdin.Fd())) && print.TerminalWidth(a.Err) > 0
}

// Ask asks the user at the terminal; wasAsked is false without a terminal.
func (a *App) Ask(question string) (hasAgreed, wasAsked bool) {
	if !a.CanPrompt() {
		return false, false
	}
	_, _ = io.WriteString(a.Err, question)
	line, _ := bufio.NewReader(a.In).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", true
}

// SigningKey reads the key that signs decisions from the named file, otherwise from the file that PROCESSIDEA_KEY
// names. It returns nil if neither is set.
func SigningKey(file string) (client.Signer, error) {
	if file == "" {
		file = os.Getenv(signing.PrivateKeyVariable)
	}
	if file == "" {
		return nil, nil
	}
	k, err := signing.LoadPrivateKey(file)
	if err != nil {
		return nil, exit.Usagef("%w", err)
	}
	return k, nil
}

// NewCommand makes a command from its usage line, short and long help, examples, and the function that runs it.
func NewCommand(use, short, long, example string, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, Example: example,
		RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), args) }}
}
