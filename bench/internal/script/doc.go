// Package script holds what the LLM of the benchmarks says: the replies of each work (ChainLines, DiamondLines, …) and
// Script, the scripted LLM that gives them and logs when it was asked, began to answer and had answered.
//
// Invariant: whatever is compared, Process Idea, plain Go or another engine, hears the same bytes at the same pace and
// is timed by the same clock.
package script
