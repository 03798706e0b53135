package builtin

import (
	"context"
	"errors"
	"strings"

	"processidea/tools"
)

type noteParams struct {
	Text  string `json:"text" jsonschema:"What the person should know."`
	Title string `json:"title,omitempty" jsonschema:"A short heading."`
}

type noteResult struct {
	Noted bool   `json:"noted"`
	Text  string `json:"text"`
	Title string `json:"title,omitempty"`
}

// note has no effect: the note is the Call's record, which people read.
func note(_ context.Context, in noteParams) (noteResult, error) {
	if strings.TrimSpace(in.Text) == "" {
		return noteResult{}, tools.Final(errors.New("the note is empty"))
	}
	return noteResult{Noted: true, Text: in.Text, Title: in.Title}, nil
}
