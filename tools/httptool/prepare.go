package httptool

import (
	"fmt"
	"net/http"
	"net/url"

	"golang.org/x/net/http/httpguts"

	"processidea/model/jsonval"
)

// request is a filled Spec, on its way from hop to hop.
type request struct {
	method           string
	url              *url.URL
	toolHeaders      http.Header // the tool's own headers, which only the first host receives
	body             []byte      // nil if there is none
	bodyHasSecret    bool
	idempotencyKey   string // idempotency key
	vault            *vault // the secrets in the request
	acceptsAnyStatus bool   // an answer of any status is a result
}

func (c *Client) prepareRequest(s Spec, f *templateFiller, scopeValues jsonval.Object) (*request, error) {
	r := &request{method: s.method(), bodyHasSecret: s.bodyHasSecret()}
	var err error
	r.toolHeaders, err = fillHeaders(s.Headers, f)
	if err != nil {
		return nil, err
	}
	// The URL is filled after the headers: parameters that the headers have used are not repeated in the query.
	r.url, err = fillURL(s, f)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	var contentType string
	r.body, contentType, err = fillBody(s, f, scopeValues, r.toolHeaders.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	if contentType != "" {
		r.toolHeaders.Set("Content-Type", contentType)
	}
	return r, nil
}

// fillHeaders fills the tool's headers. A header that consists of one absent parameter is left out.
func fillHeaders(headers map[string]string, f *templateFiller) (http.Header, error) {
	header := http.Header{}
	for _, name := range jsonval.SortedKeys(headers) {
		if paramName, ok := solePlaceholder(headers[name]); ok {
			if v, _ := f.findParam(paramName); v == nil {
				continue
			}
		}
		value, _, err := f.fillText(headers[name], nil)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("header %s: its value holds a line break or another control character", name)
		}
		header.Set(name, value)
	}
	return header, nil
}
