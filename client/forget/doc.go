// Package forget removes what a process worked on: from the store, and its histories in Temporal. What stays says that,
// when and by whom.
package forget
