// Package mcptool calls the tools of MCP servers: programs that the worker runs, and servers at a URL. A Hub holds the
// sessions of a worker, and is the runner.Runner of ideafile.KindMCP; Hub.List asks servers for their tools.
//
// Invariants:
//   - The worker's settings allow programs (CommandsVariable) and hosts (package httptool). Programs inherit nothing
//     of the worker's environment but PATH, HOME and the like.
//   - A server's hints on its own tools say at most what undo does. A tool is called only if its name, description and
//     schemas still have the digest that was pinned when the process started.
//   - An answer that cannot be read fails the Call that it answers, and no other.
//   - If it is unknown whether a call had its effect, the error's code is ideafile.CodeOutcomeUnknown.
//   - Secrets are removed from the output of servers.
//   - One session serves all processes; it is made again when it breaks and ends when nobody uses it.
package mcptool
