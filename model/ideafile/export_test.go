package ideafile

// What only the tests of this package see.

const DefaultTimeout = defaultTimeout
