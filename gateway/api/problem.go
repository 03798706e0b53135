package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"processidea/client"
	"processidea/client/schedules"
	"processidea/gateway/access"
	"processidea/gateway/intake"
	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Problem is a problem document, RFC 9457.
type Problem struct {
	Type   string `json:"type" format:"uri" doc:"urn:processidea:problem: and the code"`
	Title  string `json:"title" doc:"what the status means"`
	Status int    `json:"status" doc:"the HTTP status"`
	Code   string `json:"code" doc:"what went wrong, for programs: it never changes" example:"not-found"`
	Detail string `json:"detail" doc:"what went wrong, for people"`
	// Problems lists all errors in the request.
	Problems []Place `json:"problems,omitempty" doc:"everything that is wrong with what was sent"`
	// Plans are the Plans that wait now, if a decision was on another one.
	Plans []client.DescribedPlan `json:"plans,omitempty" doc:"of changed: the Plans that wait now"`
}

// Place is one error in a request, and where it is.
type Place struct {
	Path      string `json:"path" doc:"a place in the Idea, such as $.context[0], or in the request, such as body.decisions[0].call"`
	Message   string `json:"message"`
	IsWarning bool   `json:"warning,omitempty"`
}

// The codes of problems, beside those of package access.
const (
	CodeInvalid          = "invalid"            // the request is invalid; problems says where
	CodeInvalidIdea      = "invalid-idea"       // the Idea is wrong; problems says where
	CodeNotFound         = "not-found"          // there is no such process, Idea or page
	CodeForgotten        = "forgotten"          // the process's data was forgotten: detail says when and by whom
	CodeNoValue          = "no-value"           // the path has no value, and nobody wrote there
	CodeMethodNotAllowed = "method-not-allowed" // the page does not take the method
	CodeIDInUse          = "other-start"        // the id belongs to a process that was started from something else
	CodeScheduleExists   = "exists"             // a schedule with the id exists
	CodeClaimedID        = "claimed"            // the store has Ideas under the id, but Temporal knows no such process
	CodeRefused          = "refused"            // the act changed nothing: detail says why
	CodePlanChanged      = "changed"            // what was decided on has changed; plans has the current Plans
	CodeNotEnded         = "not-ended"          // the process is still at work
	CodeTooLarge         = intake.CodeTooLarge  // the body is too large, or has too many parts
	CodeSlowBody         = intake.CodeSlowBody  // the body took too long
	// the gateway is reading too much at the moment: Retry-After says when to send it again
	CodeBusy          = intake.CodeBusy
	CodeMediaType     = "media-type"  // the body is not JSON
	CodeNoWorker      = "no-worker"   // no worker answers: a signal that was sent takes effect when one does
	CodeUnreachable   = "unreachable" // the Temporal server, or the store, does not answer
	CodeWrongKeys     = "keys"        // the gateway's keys do not fit the store
	CodeInternal      = "internal"    // anything else
	problemTypePrefix = "urn:processidea:problem:"
	problemMediaType  = "application/problem+json"
)

// Error gives the text for people.
func (p *Problem) Error() string { return p.Detail }

// GetStatus gives the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType returns the media type of problem documents.
func (p *Problem) ContentType(string) string { return problemMediaType }

func newProblem(status int, code, detail string) *Problem {
	return &Problem{Type: problemTypePrefix + code, Title: http.StatusText(status), Status: status, Code: code,
		Detail: detail}
}

// Write sends a problem.
func (p *Problem) Write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", problemMediaType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// Unprocessable refuses a request as invalid, with a formatted text.
func Unprocessable(format string, args ...any) error {
	return access.NewRefusal(http.StatusUnprocessableEntity, CodeInvalid, format, args...)
}

// errorMapping gives an error its HTTP status and code.
type errorMapping struct {
	err    error
	status int // of HTTP
	code   string
}

// errorMappings lists the errors of package client and its schedules that have codes. Specific errors come before
// general ones.
var errorMappings = []errorMapping{
	{schedules.ErrExists, http.StatusConflict, CodeScheduleExists},
	{client.ErrIDInUse, http.StatusConflict, CodeIDInUse},
	{client.ErrForgotten, http.StatusGone, CodeForgotten},
	{client.ErrNoValue, http.StatusNotFound, CodeNoValue},
	{client.ErrNotFound, http.StatusNotFound, CodeNotFound},
	{client.ErrRefused, http.StatusConflict, CodeRefused},
	{client.ErrBadPlace, http.StatusUnprocessableEntity, CodeInvalid},
	{client.ErrNoWorker, http.StatusServiceUnavailable, CodeNoWorker},
	{client.ErrKeys, http.StatusInternalServerError, CodeWrongKeys},
	{client.ErrUnreachable, http.StatusServiceUnavailable, CodeUnreachable},
	{client.ErrInvalid, http.StatusUnprocessableEntity, CodeInvalid},
}

// ProblemOf makes a problem of an error.
func ProblemOf(err error) *Problem {
	var p *Problem
	var refusal *access.Refusal
	var invalid *client.InvalidError
	var claimed *client.ClaimedIDError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &refusal):
		return newProblem(refusal.Status, refusal.Code, refusal.Message)
	case errors.As(err, &claimed):
		return newProblem(http.StatusConflict, CodeClaimedID, err.Error())
	case errors.As(err, &invalid):
		p = newProblem(http.StatusUnprocessableEntity, CodeInvalidIdea, err.Error())
		p.Problems = jsonval.Map(invalid.Problems, func(one diag.Problem) Place {
			return Place{one.JSONPath, one.Message, one.IsWarning}
		})
		return p
	}
	for _, k := range errorMappings {
		if errors.Is(err, k.err) {
			return newProblem(k.status, k.code, err.Error())
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return newProblem(http.StatusServiceUnavailable, CodeNoWorker,
			"no worker answers yet; what was sent takes effect when one does")
	case client.IsUnreachable(err):
		return newProblem(http.StatusServiceUnavailable, CodeUnreachable, err.Error())
	case errors.Is(err, context.Canceled): // the gateway itself cancels the request: the client still reads
		return newProblem(http.StatusServiceUnavailable, CodeUnreachable,
			"the gateway stops; ask again, and another one answers")
	}
	// The error may name files and addresses of the server. So only the caller's log gets it.
	return newProblem(http.StatusInternalServerError, CodeInternal,
		"something went wrong at the gateway; its log says what")
}

// codeByStatus are the codes of the errors that the framework finds by itself.
var codeByStatus = map[int]string{
	http.StatusBadRequest: CodeInvalid, http.StatusUnprocessableEntity: CodeInvalid,
	http.StatusRequestEntityTooLarge: CodeTooLarge,
	http.StatusRequestTimeout:        CodeSlowBody, http.StatusUnsupportedMediaType: CodeMediaType,
	http.StatusNotFound: CodeNotFound,
}

// maxPlaceTextChars bounds the texts of a Place, in characters: they may contain keys of any length.
const maxPlaceTextChars = 500

// init makes the framework's own errors problem documents with codes, and makes it distinguish the keys id and Id. The
// framework has global variables for both.
func init() {
	huma.ValidateStrictCasing = true
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		code := codeByStatus[status]
		if code == "" {
			code = CodeInternal
		}
		p := newProblem(status, code, message)
		for _, err := range errs {
			var at huma.ErrorDetailer
			if errors.As(err, &at) {
				d := at.ErrorDetail()
				p.Problems = append(p.Problems, Place{Path: jsonval.Clip(d.Location, maxPlaceTextChars),
					Message: jsonval.Clip(d.Message, maxPlaceTextChars)})
			} else if err != nil {
				p.Problems = append(p.Problems, Place{Path: "body", Message: err.Error()})
			}
		}
		if len(p.Problems) > 0 {
			var texts []string
			for _, at := range p.Problems {
				texts = append(texts, strings.TrimPrefix(at.Path+": "+at.Message, ": "))
			}
			p.Detail += ": " + strings.Join(texts, "; ")
		}
		return p
	}
}
