package jsonval

// What only the tests of this package see.

var ErrNoDelta = errNoDelta

const GrownLength = grownLength
const MaxDepth = maxDepth
const MaxNumberLen = maxNumberLen
const MaxPathSteps = maxPathSteps
