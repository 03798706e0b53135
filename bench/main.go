package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"processidea/bench/internal/rechecks"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := runCommand(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func runCommand(ctx context.Context, args []string) error {
	if len(args) == 1 && args[0] == "quality" {
		return rechecks.Main(os.Stdout)
	}
	o, err := readOptions(args, os.Stderr)
	if err == nil {
		err = run(ctx, o, os.Stdout)
	}
	return err
}
