// Package readable turns values, moments and texts into what people read on a page: plain words, of bounded length.
//
// Invariants: no text contains hidden characters (those that control terminals or the direction of writing are shown by
// their number). What is too long is cut off, with a note of how much.
package readable
