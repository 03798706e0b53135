// Package mcptool calls the tools of MCP servers: programs that the worker runs, and servers at a URL. A Hub holds the
// sessions of a worker, and is the runner.Runner of ideafile.KindMCP; Hub.List is what servers are asked for their
// tools by.
//
// Invariants:
//   - The worker says which programs may run (CommandsVariable) and which hosts may be reached (package httptool).
//     Programs inherit nothing of the worker's environment but PATH, HOME and the like.
//   - What a server says of its own tools (annotations, hints) is not believed. A tool is called only if its name,
//     description and schemas still have the digest that was pinned when the process started.
//   - Where nobody knows whether a call had its effect, the error's code is ideafile.CodeOutcomeUnknown.
//   - Secrets are struck out of what servers say.
//   - One session serves all processes; it is made again when it breaks and ends when nobody uses it.
package mcptool
