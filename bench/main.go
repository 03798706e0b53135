package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"processidea/bench/internal/memory"
)

func main() {
	if memory.IsChild() {
		memory.Child()
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(os.Args) > 1 && os.Args[1] == "memory" {
		end(memory.Main(ctx, os.Args[2:], os.Stdout, os.Stderr))
	}
	o, err := readOptions(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(ctx, o, os.Stdout)
	}
	end(err)
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
