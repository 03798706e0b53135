package refexpr

// What the tests of this package need of its inside.

const MaxTerms = maxTerms
