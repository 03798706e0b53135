// Package script holds the LLM's replies in the benchmarks: the replies of each work (ChainReplyLines,
// DiamondReplyLines, …) and ScriptedLLM, which sends them and logs when each Request came and when its answer began and
// ended.
//
// Invariant: Process Idea, plain Go and other engines all receive the same bytes at the same pace and are timed by the
// same clock.
package script
