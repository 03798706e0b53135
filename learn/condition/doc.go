// Package condition finds the simplest condition that tells one class of samples from the other, as a JSON Schema over
// what was there.
//
// A Sample is a JSON value observed at one time, and whether it belongs to the class. Search.Find returns a Condition,
// or a Doubt that explains why there is none. A condition is made of tests of single fields:
//
//   - a field is there, or is not;
//   - a field is one of some values, or is none of them;
//   - a number, or the length of a list, is above or below a threshold.
//
// It is one test, or a conjunction or disjunction of up to three tests. A test of n values counts n times.
//
// Invariants:
//
//   - A condition separates all samples. The simplest is taken: a longer one only where no shorter one separates them.
//   - What longer conditions would decide otherwise is left open: When holds only where every condition of up to three
//     tests does that separates the samples, and Unless only where none does, be it that all of its tests must hold or
//     one. In a field that the simplest one does not test, values that no sample of a side has are so unknown on that
//     side. Untold names those that the other side has.
//   - Nothing is said of what was not seen: between the two nearest values of a number neither When nor Unless holds,
//     nor do they for a value of a set, or for the absence of a field, that no sample shows. Of fields that are not
//     tested, numbers beyond those of a side count as seen where so few samples have such that no test that a tenth of
//     the samples fail would be likely (rare).
//   - Conditions that mix "and" with "or", that need more than three tests, or that list values of a text which hardly
//     ever comes twice, are not found, and are not reckoned with.
//   - What holds by chance is not believed. Of n samples of which k are in the class there are C(n, k) ways to choose
//     the class. Of these, the conditions of this length that could be written over the fields that vary tell at most M
//     apart. A condition is believed only if M is at most a twentieth of C(n, k), and if at least MinSide samples stand
//     on each side.
package condition
