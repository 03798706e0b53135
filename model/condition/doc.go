// Package condition finds the simplest condition that tells one class of samples from the other, as a JSON Schema over what was there.
//
// A Sample is what was there at one time, a JSON value, and whether it belongs to the class. Search.Find returns a Condition, or a Doubt that
// says why there is none. A condition is made of tests of single fields:
//
//   - a field is there, or is not;
//   - a field is one of some values, or is none of them;
//   - a number, or the length of a list, is above or below a threshold.
//
// It is one test, or up to three of which all must hold, or one of which must; a test of n values counts n times.
//
// Invariants:
//
//   - A condition separates all samples. The simplest is taken: a longer one only where no shorter one separates them.
//   - Where equally simple conditions over different fields separate them all, it cannot be told which is meant: When holds only where
//     all of them do, and Unless only where none does.
//   - Nothing is said of what was not seen: between the two nearest values of a number neither When nor Unless holds, nor do they for a
//     value of a set, or for the absence of a field, that no sample shows.
//   - What holds by chance is not believed. Of n samples of which k are in the class there are C(n, k) ways to choose the class. Of these,
//     the conditions of this length that could be written over the fields that vary tell at most M apart. A condition is believed only if
//     M is at most a twentieth of C(n, k), and if at least MinSide samples stand on each side.
package condition
