package jsonval

// What the tests of this package need of its inside.

var ErrNoDelta = errNoDelta

const MinAppendLength = minAppendLength
const MaxDepth = maxDepth
const MaxNumberLen = maxNumberLen
const MaxPathSteps = maxPathSteps
