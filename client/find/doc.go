// Package find says which processes, and which of their instances, hold a text: in their Ideas, and in Temporal.
package find
