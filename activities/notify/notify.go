package notify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"processidea/internal/secret"
	"processidea/model/approval"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// The variables for the address. They belong to the worker: an Idea file cannot send anything anywhere.
const (
	URLVariable = "PROCESSIDEA_NOTIFY_URL" // where notices are posted
	// whsec_ and base64: signs the notices; several, separated by spaces, during a rotation
	SecretVariable = "PROCESSIDEA_NOTIFY_SECRET"
	FormatVariable = "PROCESSIDEA_NOTIFY_FORMAT" // one of formats
	// the page where people see a process, with {process} in it; with {call}, each Call has a link of its own
	LinkVariable = "PROCESSIDEA_NOTIFY_LINK"
)

// The formats of a notice. Those with words describe the Call, with its parameters as people see them.
const (
	FormatJSON                 = "json"
	FormatJSONWithDescriptions = "json-words"
	FormatSlack                = "slack" // {"text"} alone
	FormatSlackBlocks          = "slack-blocks"
	FormatTeams                = "teams" // an Adaptive Card
)

var allowedFormats = []string{FormatJSON, FormatJSONWithDescriptions, FormatSlack, FormatSlackBlocks, FormatTeams}

// Sender posts notices to one address.
type Sender struct {
	url          string
	format       string
	linkTemplate string
	signingKeys  []*webhook.Webhook
	client       *http.Client
	redactor     *secret.Redactor
	now          func() time.Time
}

// maxReplyChars bounds what an error quotes of a reply, in characters. Secrets are redacted before the cut, since half
// a secret would not be found.
const maxReplyChars = 500

// minSecretPartLength is the length from which a part of the address may be a secret by itself: shorter ones are words.
const minSecretPartLength = 12

// attemptTimeout bounds one attempt.
const attemptTimeout = 10 * time.Second

// FromEnvironment makes the Sender that the variables describe; nil if they set no address.
func FromEnvironment(getenv func(string) string) (*Sender, error) {
	address := strings.TrimSpace(getenv(URLVariable))
	var errs []error
	for name, value := range map[string]string{URLVariable: address,
		LinkVariable: linkReplacer("p", "c").Replace(getenv(LinkVariable))} {
		if u, err := url.Parse(value); value != "" &&
			(err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "") {
			errs = append(errs, fmt.Errorf("notify: read %s: not an http or https URL", name)) // it may be secret
		}
	}
	s := &Sender{url: address, format: cmp.Or(getenv(FormatVariable), FormatJSON), linkTemplate: getenv(LinkVariable),
		now: time.Now}
	if !slices.Contains(allowedFormats, s.format) {
		errs = append(errs, fmt.Errorf("notify: read %s: %q is not one of %s", FormatVariable, s.format,
			strings.Join(allowedFormats, ", ")))
	}
	var err error
	s.signingKeys, err = readKeys(getenv(SecretVariable))
	// The other settings are checked even without an address.
	if err = errors.Join(append(errs, err)...); err != nil || address == "" {
		return nil, err
	}
	u, _ := url.Parse(address) // it was parsed above
	// In an address like Slack's the path is the secret; in others a part of the query is.
	secrets := map[string]string{URLVariable: address, "path": u.EscapedPath(), "query": u.RawQuery}
	secrets["password"], _ = u.User.Password()
	for n, part := range strings.FieldsFunc(u.EscapedPath()+"/"+u.RawQuery, func(r rune) bool {
		return strings.ContainsRune("/&=", r)
	}) {
		if len(part) >= minSecretPartLength {
			secrets[fmt.Sprintf("part %d", n)] = part
		}
	}
	s.redactor = secret.NewRedactor(secrets)
	s.client = &http.Client{Timeout: attemptTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s, nil
}

// Error is why a notice was not delivered.
type Error struct {
	IsRetryable bool // whether another attempt may succeed
	text        string
}

// Error reads `notify: post notice: cause`.
func (e *Error) Error() string { return "notify: post notice: " + e.text }

// DescribesCalls reports whether its notices describe Calls in words.
func (s *Sender) DescribesCalls() bool { return s.format != FormatJSON && s.format != FormatSlack }

// DescribedCall is a Call of a notice in the words of the business. Remarks are those that it has when the notice is
// sent; some may be later than the notice.
type DescribedCall struct {
	shown.Call
	Remarks []approval.Decision
}

// Send posts notices once. messageID is the same on every attempt; callByDigest describes Calls as far as known.
// Errors are of type *Error.
func (s *Sender) Send(ctx context.Context, messageID string, n approval.Notification,
	callByDigest map[string]DescribedCall) error {
	body := s.encodeBody(n, callByDigest)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return &Error{text: s.redactor.RedactText(err.Error())}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "processidea")
	s.sign(r.Header, messageID, body)
	response, err := s.client.Do(r)
	if err != nil {
		return &Error{IsRetryable: true, text: s.redactor.RedactText(err.Error())}
	}
	defer response.Body.Close()
	responseBody, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return nil
	}
	isRetryable := response.StatusCode == 408 || response.StatusCode == 429 || response.StatusCode >= 500
	return &Error{IsRetryable: isRetryable,
		text: fmt.Sprintf("it answers %d: %s", response.StatusCode,
			jsonval.Clip(s.redactor.RedactText(strings.TrimSpace(string(responseBody))), maxReplyChars))}
}
