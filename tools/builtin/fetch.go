package builtin

import (
	"context"

	"processidea/tools"
)

// Getter makes a GET request for a URL and returns the answer as text. Errors that a further attempt would only repeat
// have a method `Final() bool` (see tools.IsFinal). httptool.Client is a Getter.
type Getter interface {
	Get(ctx context.Context, url string) (status int, contentType, body string, err error)
}

type fetchParams struct {
	URL string `json:"url" jsonschema:"The http or https URL to read; its host must be allowed."`
}

type fetchResult struct {
	Status      int    `json:"status" jsonschema:"The HTTP status."`
	ContentType string `json:"contentType" jsonschema:"The answer's Content-Type, empty where it has none."`
	Body        string `json:"body" jsonschema:"The answer's text."`
}

func registerFetch(r *tools.Registry, get Getter) {
	tools.Register(r, "fetch", func(ctx context.Context, in fetchParams) (fetchResult, error) {
		status, contentType, body, err := get.Get(ctx, in.URL)
		return fetchResult{status, contentType, body}, err
	}, tools.Describe("Reads a web page or an API by GET; what is not found is an answer too, with its status."),
		tools.NothingToUndo())
}
