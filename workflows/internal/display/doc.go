// Package display formats what the Temporal UI shows of a workflow: the Markdown of its current details, the search
// attributes, and the descriptions of its queries.
//
// Invariants: text from data never becomes Markdown (EscapeMarkdown, fencedJSON); details stay below Temporal's 20,000
// bytes (SetDetails); a search attribute is set only when it changes, and only if it is registered, since setting an
// unregistered one fails the workflow task.
package display
