// Package forget removes the contents of a process from the store, and its histories from Temporal. What remains says
// that they were removed, when and by whom.
package forget
