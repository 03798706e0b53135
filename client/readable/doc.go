// Package readable makes values, moments and texts what people read on a page: plain words, bounded in length.
//
// Invariants: nothing hides in a text (what steers terminals and the direction of writing is shown by its number); what
// is too much is cut off, and how much is left out is said.
package readable
