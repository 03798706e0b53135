package jsonval

// What the tests of this package need of its inside.

var ErrNoDelta = errNoDelta

const MinAppendLength = minAppendLength
const MaxPathSteps = maxPathSteps
