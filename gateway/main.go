// Command gateway serves the HTTP API beside any number of workers, until it is stopped.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/gateway/server"
	"processidea/internal/flags"
	"processidea/internal/heap"
	_ "processidea/store/buckets" // stores in buckets
)

// The program's exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 4 // Temporal does not answer
)

var errUsage = errors.New("bad usage")

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs the gateway until SIGTERM or SIGINT, and returns the exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c := newCommand(slog.New(slog.NewTextHandler(stderr, nil)))
	flags.SetArgsCollectingErrors(c, args)
	c.SetOut(stdout)
	c.SetErr(stderr)
	runErr := c.ExecuteContext(ctx)
	if runErr == nil {
		return 0
	}
	_, _ = fmt.Fprintln(stderr, "gateway:", runErr)
	switch {
	case errors.Is(runErr, errUsage), errors.Is(runErr, client.ErrInvalid), errors.Is(runErr, client.ErrKeys):
		return exitUsage
	case client.IsUnreachable(runErr):
		return exitUnreachable
	}
	return exitFailed
}

// addressEnvVar is the environment variable with the address; the flag overrides it.
const addressEnvVar = "PROCESSIDEA_GATEWAY"

func newCommand(log *slog.Logger) *cobra.Command {
	address := cmp.Or(os.Getenv(addressEnvVar), server.DefaultAddress)
	c := &cobra.Command{
		Use:   "gateway",
		Short: "Serve the HTTP API of processes until stopped",
		Long: `Serve the HTTP API of processes until stopped by SIGTERM or SIGINT. It keeps nothing:
run as many as you like, beside any number of workers.

As for the worker, TEMPORAL_ADDRESS and its kin say where Temporal is, PROCESSIDEA_STORE
where the store is, and PROCESSIDEA_KEYS has the keys. PROCESSIDEA_OIDC_ISSUER,
PROCESSIDEA_OIDC_AUDIENCE and PROCESSIDEA_ROLES say who may use it; on this machine alone,
PROCESSIDEA_GATEWAY_TOKEN does. docs/gateway.md tells the rest.

Exit codes: 0 stopped; 1 it could not go on; 2 bad usage; 4 Temporal cannot be
reached.`,
		Example: `  gateway
  PROCESSIDEA_GATEWAY_TOKEN=$(openssl rand -hex 16) gateway --listen 127.0.0.1:8300`,
		Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), address, log) },
	}
	c.Flags().StringVar(&address, "listen", address, "`address` to listen on ($"+addressEnvVar+")")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w: %w", errUsage, flags.JoinSettingErrors(err))
	})
	c.CompletionOptions.DisableDefaultCmd = true
	return c
}

func run(ctx context.Context, address string, log *slog.Logger) error {
	slog.SetDefault(log) // for panics, and for libraries
	heap.SetSoftLimit(1) // large bodies leave much garbage
	serverOptions, settingsErr := server.FromEnvironment(address, server.SystemUser(os.Getenv), os.Getenv)
	clientOptions, err := client.FromEnvironment()
	if err = flags.JoinSettingErrors(settingsErr, err); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	clientOptions.Logger = log
	if serverOptions.Client, err = client.Dial(ctx, clientOptions); err != nil {
		return err
	}
	defer serverOptions.Client.Close()
	serverOptions.Log = log
	gatewayServer, err := server.Listen(ctx, address, serverOptions)
	if err != nil {
		return err
	}
	select {
	case err = <-gatewayServer.Ended():
		return err
	case <-ctx.Done():
		gatewayServer.Stop()
	}
	return nil
}
