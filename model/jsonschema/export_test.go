package jsonschema

// What the tests of this package need of its inside.

const CacheSize = maxCachedResults

// CompileUncached is CompileSchema for a schema's JSON, without the cache.
func CompileUncached(text []byte) (*Schema, error) {
	r, err := parseSchema(text)
	if err != nil {
		return nil, err
	}
	part, err := r.compileAt("")
	return &Schema{compileOnce: func() (compiledSchema, error) { return compiledSchema{part, r.stepCounter}, nil }}, err
}
