package access

import (
	"cmp"
	"fmt"
	"net/http"
)

// Refusal says why a request is refused. Its text is for the sender of the request and contains no secret.
type Refusal struct {
	Status  int    // the HTTP status
	Code    string // stable, for programs
	Message string
}

// NewRefusal makes a Refusal with a formatted text.
func NewRefusal(status int, code, format string, args ...any) *Refusal {
	return &Refusal{status, code, fmt.Sprintf(format, args...)}
}

// Error gives the text.
func (r *Refusal) Error() string { return r.Message }

// The codes of refusals.
const (
	CodeNoToken           = "no-token"     // the request has no credentials
	CodeBadToken          = "bad-token"    // the token is wrong, has expired, or is for another audience
	CodeForbidden         = "forbidden"    // the person lacks the right
	CodeForeignPage       = "foreign-page" // a page of another origin made a browser send it
	CodeIssuerUnavailable = "issuer-away"  // the issuer of tokens does not answer
	CodeBrokenRoles       = "roles-broken" // nobody has rights until the file of roles is mended
	CodeForeignHost       = "foreign-host" // the gateway was called by a name that is not its own
)

func unauthorized(code, message string) *Refusal {
	return &Refusal{http.StatusUnauthorized, code, message}
}

// Forbidden refuses a request for which the person lacks the right.
func Forbidden(p *Person, r Right) *Refusal {
	return NewRefusal(http.StatusForbidden, CodeForbidden, "%s may not %s here", cmp.Or(p.Name, "you"), r)
}
