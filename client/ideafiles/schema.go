package ideafiles

import _ "embed"

// Schema is the JSON Schema of an Idea file, with which editors complete and check the file. It finds mistakes in form
// only: `starter check` finds the others.
//
//go:embed idea.schema.json
var Schema []byte
