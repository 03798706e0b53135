package jsonschema

import "github.com/santhosh-tekuri/jsonschema/v5"

// What the tests of this package need of its inside.

const CacheSize = cacheSize

// CompileUncached is CompileAt for a schema's JSON, without the cache.
func CompileUncached(text []byte, pointer string) (*jsonschema.Schema, error) {
	r, err := parseSchema(text)
	if err != nil {
		return nil, err
	}
	return r.compiledAt(pointer)
}
