// Package httptool runs the Calls of HTTP tools: it fills a request's template (Spec) with a Call's parameters, sends
// it, and reads the answer. Client is the runner.Runner of ideafile.KindHTTP, and the client for MCP servers at a URL.
//
// Invariants:
//   - Only hosts of the allow-list are reached, also by redirects. Loopback, private and metadata addresses must be
//     named in it, and the address that is dialled is the one that was checked.
//   - Secrets ($env:NAME) come from the worker's environment. They are removed from results and errors, in any
//     spelling, and do not follow a redirect to another host.
//   - A parameter is only data: it cannot add a header, a path segment, a query parameter or a field.
//   - Answers are bounded in bytes, and JSON in them is read strictly.
//   - Errors are of type *Error, which says whether another attempt may succeed. The client never retries by itself.
package httptool
