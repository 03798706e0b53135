package ideafiles

import _ "embed"

// Schema is the JSON Schema of an Idea file, with which editors complete and check it. It refuses what is wrong in form
// alone: `starter check` finds the rest.
//
//go:embed idea.schema.json
var Schema []byte
