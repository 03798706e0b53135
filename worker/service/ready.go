package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"processidea/internal/flags"
)

// readyCommand returns the verb that asks a worker on this machine. It is for the health check of a container that has
// no other program to ask with.
func readyCommand(lookupEnv func(string) (string, bool)) *cobra.Command {
	s := defaultSettings()
	c := &cobra.Command{
		Use:   "ready",
		Short: "Ask the worker that runs here whether it is ready",
		Long: `Ask the worker that runs here whether it is ready, by its address.

Exit codes: 0 it is; 1 it is not, or nobody answers; 2 bad usage.`,
		Example: `  worker ready
  worker ready --listen 127.0.0.1:9464`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.readEnvironment(c.Flags(), lookupEnv); err != nil {
				return fmt.Errorf("%w: %w", errUsage, flags.JoinSettingErrors(err))
			}
			return askReady(c.Context(), s.healthMetricsAddress)
		},
	}
	s.addFlags(c.Flags())
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = f.Name != "listen" })
	return c
}

// askReady asks the worker at an address of this machine.
func askReady(ctx context.Context, listenAddress string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*conditionCheckTimeout+time.Second)
	defer cancel()
	address, err := reachableAddress(listenAddress)
	if err != nil {
		return fmt.Errorf("%w: ask whether it is ready: %w", errUsage, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("ask whether it is ready: %w", err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("ask whether it is ready: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
		return fmt.Errorf("it answers %d: %s", response.StatusCode, body)
	}
	return nil
}

// reachableAddress returns the address at which this machine reaches a worker that listens at healthMetricsAddress.
func reachableAddress(listenAddress string) (string, error) {
	if listenAddress == "" {
		return "", errors.New("it has no address to ask: set --listen")
	}
	host, port, err := net.SplitHostPort(listenAddress)
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	return net.JoinHostPort(host, port), nil
}
