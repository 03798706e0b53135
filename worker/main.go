// Command worker runs processes of a Temporal server: it asks the LLM and runs Tools until it is stopped.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"

	"processidea/activities/blobs"
	"processidea/worker/engine"
	"processidea/workflows"
)

const (
	dialTimeout = 10 * time.Second
	// stopTimeout is how long activities may still run once the worker is told to stop. What does not end by then is
	// lost here, and run again by another worker.
	stopTimeout = 20 * time.Second
)

func main() {
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// Whoever interrupts twice does not want to wait for a tidy end.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, logger); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// run works until ctx ends.
func run(ctx context.Context, logger *slog.Logger) error {
	store, err := openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	c, err := connect(ctx, store, logger)
	if err != nil {
		return err
	}
	defer c.Close()
	parts := engine.Parts{Store: store, Log: logger, StopTimeout: stopTimeout}.FromEnvironment()
	if !parts.LLM.Configured() {
		logger.Warn("no LLM is configured: only processes with recorded replies can run; set OPENAI_API_KEY or OPENAI_BASE_URL")
	}
	w, err := engine.NewWorker(c, parts)
	if err != nil {
		return err
	}
	return work(ctx, w, logger)
}

func openStore(ctx context.Context) (*blobs.Store, error) {
	data, err := engine.DataFolder("")
	if err != nil {
		return nil, err
	}
	return engine.OpenStore(ctx, engine.StorePlace(data))
}

func connect(ctx context.Context, store *blobs.Store, logger *slog.Logger) (client.Client, error) {
	o, _, err := engine.TemporalFromEnvironment()
	if err != nil {
		return nil, err
	}
	o.Logger = log.NewStructuredLogger(logger)
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := client.DialContext(dialing, engine.ClientOptions(o, store))
	if err != nil {
		return nil, fmt.Errorf("reach Temporal at %s: %w", o.HostPort, err)
	}
	logger.Info("connected", "address", o.HostPort, "namespace", o.Namespace, "queue", workflows.TaskQueue)
	return c, nil
}

// work runs the worker until ctx ends, or until the worker cannot go on.
func work(ctx context.Context, w sdkworker.Worker, logger *slog.Logger) error {
	interrupt := make(chan any)
	context.AfterFunc(ctx, func() { close(interrupt) })
	if err := w.Run(interrupt); err != nil {
		return fmt.Errorf("run worker: %w", err)
	}
	logger.Info("stopped")
	return nil
}
