// Command llm serves the scripted LLM of the benchmarks to programs in other languages: the same replies at the same
// pace, timed by the same clock. It prints its address on a line of its own and serves until its standard input ends.
//
//	POST /{work}/{size}/{run}/v1/chat/completions   a Request of a run of a work; a new run begins with the first reply
//	GET  /{work}/{size}/{run}/gaps                  milliseconds from the end of each reply to the next Request
package main
