package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"processidea/internal/flags"
	"processidea/internal/safego"
	"processidea/internal/version"
)

// The program's exit codes.
const (
	exitStopped     = 0 // it was stopped
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 4 // Temporal does not answer
)

// errUsage marks errors in how the program was called.
var errUsage = errors.New("bad usage")

// errTemporalUnreachable marks errors of a server that does not answer.
var errTemporalUnreachable = errors.New("unreachable")

// Execute runs the worker with these arguments until SIGTERM or SIGINT, and returns the program's exit code.
func Execute(args []string, stdout, stderr io.Writer, options ...Option) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// A second interrupt ends the program without draining.
	safego.AfterDone(ctx, "worker.signals", stop)
	c := Command(stderr, options...)
	flags.SetArgsCollectingErrors(c, args)
	c.SetOut(stdout)
	c.SetErr(stderr)
	return reportError(c.ExecuteContext(ctx), stderr)
}

// Command returns the worker as a command, which another program can add to its own. It logs to the writer. ExitCode
// returns the exit code for the command's error.
func Command(log io.Writer, options ...Option) *cobra.Command {
	return command(os.LookupEnv, func(ctx context.Context, s settings, settingsErr error) error {
		for _, o := range options {
			o(&s)
		}
		return run(ctx, s, settingsErr, s.logger(log))
	})
}

// command reads the settings, and passes them to then, with the errors in them.
func command(lookupEnv func(string) (string, bool), start func(context.Context, settings, error) error) *cobra.Command {
	s := defaultSettings()
	c := &cobra.Command{
		Use:     "worker",
		Version: version.Text(),
		Short:   "Run processes of a Temporal server until stopped",
		Long: `Run processes of a Temporal server until stopped by SIGTERM or SIGINT; a second
signal ends it at once.

Variables say where things are and what is allowed:
  TEMPORAL_ADDRESS and its kin    Temporal, unless a profile of its configuration file does
  PROCESSIDEA_STORE               the store
  PROCESSIDEA_KEYS                the keys that encrypt
  OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL    the LLM
  PROCESSIDEA_HTTP_ALLOW          the hosts that HTTP tools may reach
  PROCESSIDEA_TOOL_SECRETS        the secrets that they may get
  PROCESSIDEA_MCP_COMMANDS        the commands that may run as MCP servers
  PROCESSIDEA_NOTIFY_URL          who is told what waits for people
Each flag names the variable that can be set instead of it.

Exit codes: 0 stopped; 1 it could not go on; 2 bad usage; 4 Temporal cannot be
reached.`,
		Example: `  worker
  worker --drain 5m --max-requests 20
  PROCESSIDEA_LISTEN=0.0.0.0:9464 PROCESSIDEA_LOG_FORMAT=json worker`,
		Args:          noArguments,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, _ []string) error {
			err := s.readEnvironment(c.Flags(), lookupEnv)
			return start(c.Context(), s, err)
		},
	}
	s.addFlags(c.Flags())
	c.AddCommand(readyCommand(lookupEnv))
	c.SetFlagErrorFunc(func(failingCommand *cobra.Command, err error) error {
		if failingCommand != c {
			return fmt.Errorf("%w: %w", errUsage, flags.JoinSettingErrors(err))
		}
		err = errors.Join(err, s.readEnvironment(c.Flags(), lookupEnv))
		return start(c.Context(), s, err)
	})
	c.CompletionOptions.DisableDefaultCmd = true
	return c
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: it takes no arguments, such as %q", errUsage, args[0])
	}
	return nil
}

// reportError reports an error, and returns the exit code for it.
func reportError(err error, stderr io.Writer) int {
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "worker:", err)
	}
	return ExitCode(err)
}

// ExitCode returns the program's exit code for an error of the worker: 0 without one, 2 for bad usage, 4 if Temporal
// cannot be reached, else 1.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return exitStopped
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, errTemporalUnreachable):
		return exitUnreachable
	}
	return exitFailed
}
