package jsonschema

// What only the tests of this package see.

const CacheSize = cacheSize
