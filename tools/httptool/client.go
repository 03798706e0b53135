package httptool

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"processidea/model/jsonval"
	"processidea/tools/runner"
)

// Options configure a Client.
type Options struct {
	AllowList string // the allow-list, in the form of AllowListVariable
	// what $env:NAME may name, in the form of SecretsVariable; empty: nothing
	AllowedSecrets string
	LookupEnv      func(string) (string, bool) // looks up the secrets; nil: os.LookupEnv
}

// maxAnswerBytes bounds an answer, in bytes after decompression.
const maxAnswerBytes = 20 << 20

// Client sends the requests of HTTP tools. It keeps connections alive, uses no proxy and no cookies, and is safe
// for concurrent use.
type Client struct {
	allowList             *allowList
	allowListErr          error
	allowedSecrets        secretEntries
	lookupEnv             func(string) (string, bool)
	maxAnswerBytes        int64
	usedSecretValueByName sync.Map // name → value of the secrets that were used
	dialer                *dialer
	transport             *http.Transport // no http.Client, because send follows redirects
	now                   func() time.Time
}

// New returns a Client. If the allow-list is invalid, every request fails; CheckAllowList reports that beforehand.
func New(o Options) *Client {
	c := &Client{lookupEnv: o.LookupEnv, maxAnswerBytes: maxAnswerBytes, now: time.Now}
	if c.lookupEnv == nil {
		c.lookupEnv = os.LookupEnv
	}
	c.allowList, c.allowListErr = parseAllowList(o.AllowList)
	if c.allowListErr != nil {
		c.allowList = &allowList{}
	}
	c.allowedSecrets, _ = parseSecretEntries(o.AllowedSecrets) // a list that does not parse allows none
	c.dialer = &dialer{allowList: c.allowList}
	c.transport = &http.Transport{
		DialContext:            c.dialer.dial,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
	return c
}

// Close closes the idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Do fills the spec with params, sends the request and returns the content of the answer: its JSON, its text, or nil if
// it is empty. scopeValues become the field _scopes of a JSON body. Errors are of type *Error.
func (c *Client) Do(ctx context.Context, s Spec, params, scopeValues jsonval.Object,
	idempotencyKey string) (any, error) {
	return c.do(ctx, s, runner.Input{Params: params, ScopeValues: scopeValues, IdempotencyKey: idempotencyKey})
}

func (c *Client) do(ctx context.Context, s Spec, in runner.Input) (any, error) {
	v := c.newVault()
	fail := func(err error) (any, error) {
		e := c.errorWithoutSecrets(s.method()+" "+s.URL, err, v)
		e.IsNotAllowed = isNotAllowed(err)
		return nil, e
	}
	if err := s.check(); err != nil {
		return fail(finalError{err})
	}
	r, err := c.prepareRequest(s, &templateFiller{params: in.Params, vault: v, usedParams: map[string]bool{}},
		in.ScopeValues)
	if err == nil {
		err = v.checkSecretsMayGoTo(r.url)
	}
	if err != nil {
		return fail(finalError{err})
	}
	r.idempotencyKey, r.vault = encodeHeaderValue(in.IdempotencyKey), v
	a, err := c.send(ctx, r)
	if err != nil {
		return fail(err)
	}
	result, err := a.parseValue(in.FirstFittingReading)
	if err != nil {
		return fail(err)
	}
	return v.redactor().RedactValue(result), nil
}

func (c *Client) newVault() *vault {
	return &vault{allowedSecrets: c.allowedSecrets, lookupEnv: c.lookupEnv, valueByName: map[string]string{},
		usedSecretValueByName: &c.usedSecretValueByName}
}

// Get reads a URL unchanged, without parameters and secrets. Any status is a result, except those that are tried again,
// such as 408, 429 and 5xx. Errors are of type *Error.
func (c *Client) Get(ctx context.Context, address string) (status int, contentType, body string, err error) {
	v := c.newVault()
	fail := func(err error) (int, string, string, error) {
		return 0, "", "", c.errorWithoutSecrets("GET "+excerpt(address), err, v)
	}
	u, err := parseHTTPURL(address, "")
	if err != nil {
		return fail(finalError{err})
	}
	a, err := c.send(ctx, &request{method: "GET", url: u, toolHeaders: http.Header{}, vault: v, acceptsAnyStatus: true})
	if err != nil {
		return fail(err)
	}
	body, err = a.bodyText()
	if err != nil {
		return fail(err)
	}
	s := v.redactor()
	return a.status, s.RedactText(a.contentType), s.RedactText(body), nil
}

// errorWithoutSecrets turns any failure into an Error without secrets.
func (c *Client) errorWithoutSecrets(methodAndURL string, err error, v *vault) *Error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{IsRetryable: !IsRefused(err), Err: err}
	}
	s := v.redactor()
	if e.Err != nil {
		e.Err = RedactError(s, e.Err)
	}
	e.Body = excerpt(s.RedactText(e.Body)) // redacted first: half a secret would not be found
	e.methodAndURL = s.RedactText(methodAndURL)
	return e
}

// excerpt returns the first 1,000 characters.
func excerpt(s string) string { return jsonval.Clip(s, 1000) }
