package jsonschema

// What the tests of this package need of its inside.

const CacheSize = cacheSize
