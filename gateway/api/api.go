package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/gateway/access"
	"processidea/gateway/feed"
	"processidea/gateway/hooks"
	"processidea/gateway/intake"
	"processidea/model/jsonval"
)

// Options configure the API.
type Options struct {
	Client *client.Client
	Feed   *feed.Feed
	Guard  access.Guard
	Hooks  *hooks.Rules // nil: none
	Log    *slog.Logger
	// Tools are the Go tools of the workers, as far as the gateway knows them.
	Tools ideafiles.WorkerTools
	// ActionTimeout bounds how long a request waits for a worker to process a decision or a steering signal.
	ActionTimeout time.Duration
	// Intake reads the bodies of authenticated requests, and Strangers those of all other requests.
	Intake, AnonymousIntake *intake.Intake
}

// DefaultActionTimeout applies if Options.ActionTimeout is 0.
const DefaultActionTimeout = 30 * time.Second

// API answers requests.
type API struct {
	Options
	huma    huma.API
	mux     *http.ServeMux
	answers *answerCache
}

const (
	maxIdeaBodyBytes    = 32 << 20 // bytes of a body that contains an Idea or its instances
	defaultMaxBodyBytes = 4 << 20  // bytes of any other body
)

// New makes an API.
func New(o Options) *API {
	if o.ActionTimeout == 0 {
		o.ActionTimeout = DefaultActionTimeout
	}
	if o.Tools.Registry == nil { // the workers' tools are not known here
		o.Tools.HasOtherWorkers = true
	}
	a := &API{Options: o, mux: http.NewServeMux(), answers: newAnswerCache()}
	config := huma.DefaultConfig("Process Idea", Version)
	config.Info.Description = description
	config.DocsPath, config.SchemasPath, config.CreateHooks = "", "", nil
	strictFormat := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}
	config.Formats = map[string]huma.Format{"application/json": strictFormat, "json": strictFormat}
	config.AllowAdditionalPropertiesByDefault = true
	config.RejectUnknownQueryParameters = true
	config.Components.Schemas = newRegistry()
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer",
			Description: "a token of the OpenID Connect issuer that the gateway trusts, or the one that it printed"},
		signatureScheme: {
			Type: "apiKey", In: "header", Name: webhook.HeaderWebhookSignature,
			Description: "a signature by the rule's secret, as Standard Webhooks says",
		},
	}
	config.Servers = []*huma.Server{{URL: "/", Description: "this gateway"}}
	a.huma = humago.New(a.mux, config)
	a.addProcessOperations()
	a.addChainOperations()
	a.addPeopleOperations()
	a.addPlanOperations()
	a.addSteeringOperations()
	a.addUndoOperation()
	a.addOrderOperations()
	a.addScheduleOperations()
	a.addHookOperation()
	a.addEventsOperation()
	markNullableProperties(a.huma.OpenAPI())
	a.mux.HandleFunc("/", a.serveUnknown)
	return a
}

// Version is the version of the API. Changes only add to it.
const Version = "1.0.0"

const description = `Processes that an LLM plans and people decide on: start one, follow it, decide on the Calls that wait for a
person, steer it, and read its chain of Ideas.

An id of a process is one segment of a path, percent-encoded: the delegate or instance refunds/13 is
/api/processes/refunds%2F13. Every error is a problem document (RFC 9457) whose code never changes. Programs must
accept JSON keys that are not described here: more may be added.`

// Handle adds a page that does not belong to the API.
func (a *API) Handle(pattern string, h http.Handler) { a.mux.Handle(pattern, h) }

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// ServeIndex answers a request without a path with the addresses of the API.
func ServeIndex(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_,
		_ = fmt.Fprintln(
		w,
		`{"name":"Process Idea","openapi":"/openapi.json","processes":"/api/processes","approvals":"/api/approvals","plans":"/api/plans"}`)
}

// serveUnknown answers a request that no operation serves. If the page exists, the answer names the methods that it
// accepts.
func (a *API) serveUnknown(w http.ResponseWriter, r *http.Request) {
	var allowedMethods []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		probeRequest := r.Clone(r.Context())
		probeRequest.Method = method
		if _, pattern := a.mux.Handler(probeRequest); pattern != "/" && pattern != "" {
			allowedMethods = append(allowedMethods, method)
		}
	}
	if len(allowedMethods) == 0 {
		newProblem(http.StatusNotFound, CodeNotFound,
			"there is no such page; /openapi.json lists all pages").Write(w)
		return
	}
	for _, method := range allowedMethods {
		w.Header().Add("Allow", method)
	}
	newProblem(http.StatusMethodNotAllowed, CodeMethodNotAllowed,
		fmt.Sprintf("this page accepts %v, not %s", allowedMethods, r.Method)).Write(w)
}

// addOperation adds an operation to an API. do runs only once the caller is identified and has the right. If right is
// empty, do must identify the caller itself.
func addOperation[I, O any](a *API, right access.Right, op huma.Operation, do func(context.Context, *I) (*O, error)) {
	if right != "" {
		addOperationForAny(a, []access.Right{right}, op, do)
		return
	}
	addOperationForAny(a, nil, op, do)
}

// addOperationForAny is addOperation for callers who have at least one of some rights.
func addOperationForAny[I, O any](a *API, rights []access.Right, op huma.Operation,
	do func(context.Context, *I) (*O, error)) {
	if len(rights) > 0 {
		op.Security = []map[string][]string{{"bearer": {}}}
		op.Metadata = map[string]any{"rights": rights}
		rightNames := strings.Join(jsonval.Map(rights, func(r access.Right) string { return string(r) }), " or to ")
		op.Description += fmt.Sprintf("\n\nIt takes the right to %s.", rightNames)
		op.Middlewares = append(op.Middlewares, a.requireAnyRight(rights))
	}
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = defaultMaxBodyBytes
	}
	if op.Method != http.MethodGet {
		op.Middlewares = append(op.Middlewares, a.requireValidBody(op))
		op.SkipValidateBody = true // requireValidBody has validated the body
		op.BodyReadTimeout = -1    // requireValidBody has read the body
	}
	if strings.Contains(op.Path, "{") {
		op.Errors = append(op.Errors, http.StatusNotFound)
	}
	if op.Method == http.MethodPost {
		op.Errors = append(op.Errors, http.StatusBadRequest, http.StatusRequestTimeout,
			http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if slices.Contains(op.Errors, http.StatusNotFound) {
		op.Errors = append(op.Errors, http.StatusGone) // what a process worked on may have been forgotten
	}
	op.Errors = append(op.Errors, http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest,
		http.StatusUnprocessableEntity,
		http.StatusInternalServerError, http.StatusServiceUnavailable)
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := do(ctx, in)
		if err != nil {
			return nil, a.ExplainAndLog(ctx, op.OperationID, err)
		}
		return out, nil
	})
}

// newPostOperation describes an operation that changes something.
func newPostOperation(tag, id, path, summary, description string) huma.Operation {
	return huma.Operation{OperationID: id, Method: http.MethodPost, Path: path, Summary: summary,
		Description: description, Tags: []string{tag}}
}

// asStartOperation makes op an operation that starts a process: it answers 201, or 200 if the process exists already.
func asStartOperation(op huma.Operation, response *huma.Response) huma.Operation {
	op.DefaultStatus, op.Errors = http.StatusCreated, []int{http.StatusConflict}
	op.Responses = map[string]*huma.Response{"200": response, "201": response}
	return op
}

// addGet adds an operation that only reads. If its path names a process or a schedule, it may answer 404.
func addGet[I, O any](a *API, tag, id, path, summary, description string, do func(context.Context, *I) (O, error)) {
	addGetOperation(a, huma.Operation{OperationID: id, Path: path, Summary: summary, Description: description,
		Tags: []string{tag}}, asHandler(do))
}

// addGetOperation is get for an operation whose answer is more than a body.
func addGetOperation[I, O any](a *API, op huma.Operation, do func(context.Context, *I) (*O, error)) {
	op.Method = http.MethodGet
	addOperation(a, access.Look, op, do)
}

// asHandler turns a function that returns a body into a handler.
func asHandler[I, O any](do func(context.Context, *I) (O, error)) func(context.Context, *I) (*struct{ Body O }, error) {
	return func(ctx context.Context, in *I) (*struct{ Body O }, error) {
		body, err := do(ctx, in)
		if err != nil {
			return nil, err
		}
		return &struct{ Body O }{body}, nil
	}
}

// ExplainAndLog turns an error into a problem, and logs the error unless it is the caller's fault. Errors in the roles
// are logged once, where the roles are read.
func (a *API) ExplainAndLog(ctx context.Context, operationID string, err error) *Problem {
	p := ProblemOf(err)
	if p.Status >= http.StatusInternalServerError && p.Code != access.CodeBrokenRoles &&
		!errors.Is(ctx.Err(), context.Canceled) {
		a.Log.Error("a request failed", "operation", operationID, "code", p.Code, "error", err)
	}
	return p
}

// Refuse answers with a problem.
func (a *API) Refuse(ctx context.Context, w http.ResponseWriter, operationID string, err error) {
	p := a.ExplainAndLog(ctx, operationID, err)
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	p.Write(w)
}

// requireAnyRight identifies the caller, and refuses a caller with none of the rights before the body is read.
func (a *API) requireAnyRight(rights []access.Right) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		person, err := a.Guard.Identify(r)
		if err == nil && !slices.ContainsFunc(rights, person.May) {
			err = access.Forbidden(person, rights[0])
		}
		if err != nil {
			a.Refuse(ctx.Context(), w, ctx.Operation().OperationID, err)
			return
		}
		if ctx.Method() != http.MethodGet {
			a.Log.Info("asked to act", "operation", ctx.Operation().OperationID, "process", ctx.Param("id"),
				"by", person.Name)
		}
		next(huma.WithContext(ctx, access.WithPerson(ctx.Context(), person)))
	}
}

// requireValidBody reads the body and validates it against its schema, after admit.
func (a *API) requireValidBody(op huma.Operation) func(huma.Context, func(huma.Context)) {
	bodyIntake := a.Intake
	if len(op.Metadata) == 0 { // anybody may send it
		bodyIntake = a.AnonymousIntake
	}
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		body, releaseBodyMemory, err := bodyIntake.Read(w, r, op.MaxBodyBytes)
		defer releaseBodyMemory()
		// Clients on Windows may begin a body with a byte order mark.
		if text, hasByteOrderMark := bytes.CutPrefix(body, []byte("\uFEFF")); hasByteOrderMark && !op.SkipValidateBody {
			body, r.Body, r.ContentLength = text, io.NopCloser(bytes.NewReader(text)), int64(len(text))
		}
		if err == nil && len(body) > 0 && !op.SkipValidateBody {
			err = a.validate(ctx.Operation(), r.Header.Get("Content-Type"), body)
		}
		if err != nil {
			a.Refuse(ctx.Context(), w, op.OperationID, err)
			return
		}
		next(ctx)
	}
}

// validate checks a body against the schema of an operation.
func (a *API) validate(op *huma.Operation, mediaType string, body []byte) error {
	if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	var probeTarget any
	if err := a.huma.Unmarshal(cmp.Or(mediaType, "application/json"), []byte("null"), &probeTarget); err != nil {
		return newProblem(http.StatusUnsupportedMediaType, CodeMediaType,
			"the body has an unsupported type: send application/json")
	}
	return validateBody(a.huma.OpenAPI().Components.Schemas, op.RequestBody.Content["application/json"].Schema, body)
}

// NoteChange records an act on a process, so that followers and readers see its effect at once.
func (a *API) NoteChange(processID string) {
	a.answers.forgetAnswers()
	a.Feed.WakeWatcher(processID)
}

// ChangeCount counts the acts here: an answer requested before the last act may not show it.
func (a *API) ChangeCount() int64 { return a.answers.changeCount.Load() }

var errBadEventID = errors.New("it is not the id of an event of this gateway")

// invalidAt describes an error in a part of a request.
func invalidAt(requestPath string, err error) *Problem {
	p := newProblem(http.StatusUnprocessableEntity, CodeInvalid, requestPath+": "+err.Error())
	p.Problems = []Place{{Path: requestPath, Message: err.Error()}}
	return p
}

// ProcessTarget names a process.
type ProcessTarget struct {
	ID string `path:"id" doc:"the id of a process, percent-encoded: refunds%2F13 for refunds/13" example:"refunds"`
}
