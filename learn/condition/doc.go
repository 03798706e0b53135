// Package condition finds the simplest condition that separates one class of samples from the others, as a JSON Schema
// over what was there.
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
//   - What longer conditions would decide otherwise is left open. When holds only where all conditions of up to three
//     tests that separate the samples hold, and Unless only where none of them holds, whether they are conjunctions or
//     disjunctions. So, in a field that the simplest condition does not test, values that no sample of a side has are
//     unknown on that side. UndecidedSituationTexts names those of them that the other side has.
//   - Nothing is said of what was not seen. Neither When nor Unless holds between the two nearest values of a number,
//     for a value of a set that no sample shows, or for the absence of a field that no sample lacks. In a field that
//     is not tested, numbers beyond those of a side count as seen if few samples have them: too few for a test that a
//     tenth of the samples fail (isRare).
//   - Conditions that mix "and" with "or", that need more than three tests, or that list values of a text which hardly
//     ever repeats, are not found, and are not taken into account.
//   - What holds by chance is not believed. If k of n samples are in the class, there are C(n, k) ways to choose the
//     class. The conditions of this length that could be written over the fields that vary can separate at most M of
//     these choices. A condition is believed only if M is at most a twentieth of C(n, k), and if each side has at
//     least MinSamplesPerSide samples.
package condition
