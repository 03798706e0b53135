// Package memory measures how much memory `starter run` takes for works that need much, and compares that with limits.
//
// Each case runs in a child process of this same program, which acts as `starter run` there: the embedded server, the
// worker, the gateway, the web UI. The LLM and the tools answer from the measuring process, and generate their replies
// as they send them, so that they are not part of the figure.
//
//   - Main is the command `bench memory`; RunChild is what the child processes do.
//   - Cases are the works.
package memory
