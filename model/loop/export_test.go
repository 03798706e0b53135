package loop

// What only the tests of this package see.

const MaxBadInRow = maxBadInRow
