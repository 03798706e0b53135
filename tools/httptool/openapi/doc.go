// Package openapi makes HTTP tools from the operations in an OpenAPI document (3.0 or 3.1): Import returns Tools in the
// form of an Idea file, with notes on what was left out or changed.
//
// Invariants:
//   - Nothing is loaded: an operation that needs another file or URL is left out.
//   - Every Tool passes the check of an Idea file, and its request sends exactly the declared parameters.
//   - Schemas are cut where they are recursive or too large for an LLM's prompt, and a note says so.
//   - The same document gives the same bytes.
package openapi
