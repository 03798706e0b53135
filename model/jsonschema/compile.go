package jsonschema

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"processidea/model/jsonval"
)

// MaxSchemaBytes is how large a schema may be, in bytes of JSON. It is compiled within a workflow task.
const MaxSchemaBytes = 1 << 20

const schemaURL = "idea:///schema"

// parsedSchema is a whole schema, read once, whose parts are compiled on demand.
type parsedSchema struct {
	mu                   sync.Mutex
	compiler             *jsonschema.Compiler    // guarded by mu
	partByPointer        map[string]compiledPart // guarded by mu, by JSON pointer
	stepCounter          *validationStepCounter
	estimatedMemoryBytes int // bytes of its JSON and of the programs of its patterns
}

type compiledPart struct {
	schema *jsonschema.Schema
	err    error
}

// compileAt compiles the part at a JSON pointer.
func (r *parsedSchema) compileAt(pointer string) (*jsonschema.Schema, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.partByPointer[pointer]
	if !ok {
		p.schema, p.err = r.compilePart(pointer)
		r.partByPointer[pointer] = p
	}
	return p.schema, p.err
}

func (r *parsedSchema) compilePart(pointer string) (s *jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("the validator gave up: %v", p)
		}
	}()
	if s, err = r.compiler.Compile(schemaURL + "#" + pointer); err != nil {
		return nil, errors.New(validationErrorText(err))
	}
	return s, r.stepCounter.checkSubschemaCount(s)
}

// parseSchema reads a schema's JSON.
func parseSchema(text []byte) (*parsedSchema, error) {
	if len(text) > MaxSchemaBytes {
		return nil, fmt.Errorf("it has %d bytes; a schema has %d at most", len(text), MaxSchemaBytes)
	}
	source, err := jsonval.Decode(text)
	if err != nil {
		return nil, err
	}
	if err := CheckRefs(source); err != nil {
		return nil, err
	}
	patternStepCount, err := CountCompiledPatternSteps(source, maxCompiledPatternSteps)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.Formats["regex"] = func(v any) bool { // the library's own check would compile the pattern
		pattern, ok := v.(string)
		_, err := CountCompiledSteps(pattern)
		return !ok || err == nil
	}
	if !differsBetweenDrafts(source) {
		c.Draft = jsonschema.Draft2019 // the library's work for a newer draft grows with the square of the schema
	}
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("refused to load %s: nothing is ever loaded", url)
	}
	if err := c.AddResource(schemaURL, bytes.NewReader(text)); err != nil {
		return nil, err
	}
	return &parsedSchema{compiler: c, partByPointer: map[string]compiledPart{}, stepCounter: newStepCounter(),
		estimatedMemoryBytes: len(text) + patternStepCount*bytesPerPatternStep}, nil
}

// draftDependentKeywords are the keywords that drafts 2019-09 and 2020-12 read in different ways.
var draftDependentKeywords = strings.Fields(`$schema $id $anchor $dynamicAnchor $dynamicRef $recursiveAnchor
	$recursiveRef $vocabulary prefixItems additionalItems contains unevaluatedItems unevaluatedProperties
	definitions dependencies`)

// differsBetweenDrafts reports whether a schema may mean something else in draft 2019-09 than in 2020-12.
func differsBetweenDrafts(source any) bool {
	for k, v := range membersAtAnyDepth(source) {
		_, isList := v.([]any)
		if slices.Contains(draftDependentKeywords, k) || (isList && k == "items") {
			return true
		}
	}
	return false
}

// cachedParsedSchema reads a schema, or returns the cached one: a hundred instances share one palette.
func cachedParsedSchema(source any) (*parsedSchema, error) {
	m := jsonval.AsObject(source)
	address := reflect.ValueOf(m).Pointer()
	if cached, ok := schemasByAddress.Get(address); ok {
		return cached.parsed, nil
	}
	text := jsonval.Encode(WithoutMetaKeys(source))
	digest := sha256.Sum256(text)
	parsed, isCached := schemasByDigest.Get(digest)
	if !isCached {
		var err error
		if parsed, err = parseSchema(text); err != nil {
			return nil, err
		}
		schemasByDigest.Put(digest, parsed, parsed.estimatedMemoryBytes)
	}
	if m != nil {
		schemasByAddress.Put(address, schemaWithSource{parsed, m}, parsed.estimatedMemoryBytes)
	}
	return parsed, nil
}

// Parsed schemas are cached by their content, and by their address in memory.
//
// Invariant: a schema that is cached by its address is kept alive, so that its address is not reused; and schemas are
// never changed in place.
var (
	schemasByDigest  = Cache[[sha256.Size]byte, *parsedSchema]{maxBytes: 32 << 20}
	schemasByAddress = Cache[uintptr, schemaWithSource]{maxBytes: 4 << 20}
)

type schemaWithSource struct {
	parsed          *parsedSchema
	keptAliveSource jsonval.Object
}
