// Command bench measures Process Idea on the real parts: the embedded server with a database file, a scripted LLM over
// HTTP with real token timing, and tools over HTTP or in Go. Plain Go does the same work beside it, in turn.
//
//	go run ./bench                                # every work but the largest, about eleven minutes
//	go run ./bench chain --rounds 1               # one work, once
//	go run ./bench --json figures.json --svg figures.svg
//
// How to read it: every figure is the median over all rounds with the tenth and the ninetieth percentile beside it; plain is
// the median of the same work in plain Go, which keeps nothing; the limit is what the design promises, as a value or as a
// multiple of plain. What a work does stands before its function, one file for each. The largest run by name alone.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	o, err := readOptions(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
