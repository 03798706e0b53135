// Command bench measures Process Idea with real parts: the embedded server with a database file, a scripted LLM over
// HTTP with real token timing, and tools over HTTP or in Go. Between its runs, plain Go does the same work for
// comparison.
//
//	go run ./bench                                # every work but the largest, about eleven minutes
//	go run ./bench chain --rounds 1               # one work, once
//	go run ./bench --quick                        # every work there is, once and small: whether it still works
//	go run ./bench --json figures.json
//	go run ./bench quality                        # how well a process knows its own answers; simulated
//
// How to read it: every figure is the median over all rounds, with the tenth and the ninetieth percentile beside it.
// plain is the median of the same work in plain Go, which stores nothing durably. The limit is what the design
// promises, as a value or as a multiple of plain. The largest works run only by name.
//
// The packages: internal/works holds what is measured, a file for each work; internal/bed holds the environment;
// internal/script holds the LLM's replies; internal/report evaluates the samples; internal/usage reads this program's
// memory and time; internal/rechecks simulates LLMs that err. Another program, peers, does the same works on other
// engines.
//
// A process that pauses, or does not complete, ends the program with the reason.
//
// Invariant: each round runs on a bed of its own, so that nothing that one work leaves behind is counted for another.
// For the same reason each work runs in a process of its own, unless it is measured alone.
package main
