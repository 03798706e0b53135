// Command bench measures Process Idea on the real parts: the embedded server with a database file, a scripted LLM over
// HTTP with real token timing, and tools over HTTP or in Go. Plain Go does the same work beside it, in turn.
//
//	go run ./bench                                # every work but the largest, about eleven minutes
//	go run ./bench chain --rounds 1               # one work, once
//	go run ./bench --quick                        # every work there is, once and small: whether it still works
//	go run ./bench --json figures.json
//	go run ./bench quality                        # how well a process knows its own answers; simulated
//	go run ./bench memory                         # how much memory `starter run` takes for works that are hard on it
//
// How to read it: every figure is the median over all rounds, with the tenth and the ninetieth percentile beside it;
// plain is the median of the same work in plain Go, which keeps nothing; the limit is what the design promises, as a
// value or as a multiple of plain. The largest works run only by name.
//
// The packages: internal/works holds what is measured, a file for each work; internal/bed the environment;
// internal/script the LLM's replies; internal/report evaluates the samples; internal/usage reads this program's memory
// and time; internal/named reads command lines; internal/rechecks simulates LLMs that err; internal/memory measures
// memory, each case in a process that is `starter` itself. Programs of their own are crash, which kills workers and
// servers at random, and peers, which does the same works on other engines.
//
// A process that pauses, or does not complete, ends the program with the reason.
//
// Invariant: each round runs on a bed of its own, and, unless one work is measured alone or a profile is taken, in a
// process of its own, so that nothing that one work leaves behind is counted for another.
package main
