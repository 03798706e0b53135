// Package mcptool calls the tools of MCP servers: programs that the worker runs, and servers at a URL. A Hub holds the
// sessions of a worker, and is the runner.Runner of ideafile.KindMCP; Hub.List asks servers for their tools.
//
// Invariants:
//   - The worker's settings allow programs (CommandsVariable) and hosts (package httptool). Programs inherit only PATH,
//     HOME and the like from the worker's environment.
//   - A server's hints on its own tools are used only for undo. A tool is called only if its name, description and
//     schemas still have the digest that was pinned when the process started.
//   - An unreadable answer fails only the Call that it answers.
//   - If it is unknown whether a call had its effect, the error's code is ideafile.CodeOutcomeUnknown.
//   - Secrets are removed from the output of servers.
//   - One session with a server serves all processes. It is opened again when it breaks, and closed when unused.
package mcptool
