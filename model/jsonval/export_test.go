package jsonval

// What only the tests of this package see.

var DecodeBounds = decodeBounds
var ErrNoDelta = errNoDelta

const GrownLength = grownLength
const MaxPathSteps = maxPathSteps
