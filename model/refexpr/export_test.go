package refexpr

// What only the tests of this package see.

const MaxTerms = maxTerms
