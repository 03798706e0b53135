package jsonval

// What the tests of this package need of its inside.

var ErrNoDelta = errWrongDelta

const MinAppendLength = minTextBytesForAppendDelta
const MaxPathSteps = maxPathSteps
