// Command bench measures Process Idea on the real parts: the embedded server with a database file, a scripted LLM over
// HTTP with real token timing, and tools over HTTP.
//
//	go run ./bench          # every measurement, about half a minute
//
// How to read it: closing byte to tool is the time from the moment at which the LLM's server has sent the byte that closes
// a Call to the moment at which the tool's server has the Call's request. In between lie the parser, a signal to the
// instance, a workflow task and an activity task. It is measured over 20 Calls of one stream, three streams, with 300 ms to
// the first token and 100 tokens a second.
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"time"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	b, err := newBed(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	fmt.Printf("embedded server ready in %d ms\n\n", b.ready.Milliseconds())
	var lags []time.Duration
	for round := range 3 {
		more, err := b.closingByteToTool(ctx, round, 20)
		if err != nil {
			return err
		}
		lags = append(lags, more...)
	}
	sort.Slice(lags, func(i, j int) bool { return lags[i] < lags[j] })
	at := func(q float64) float64 { return float64(lags[int(q*float64(len(lags)-1))].Microseconds()) / 1000 }
	fmt.Println("| closing byte to tool, ms | min | median | p90 | max |")
	fmt.Println("| --- | --- | --- | --- | --- |")
	fmt.Printf("| %d Calls | %.1f | %.1f | %.1f | %.1f |\n", len(lags), at(0), at(0.5), at(0.9), at(1))
	return nil
}
