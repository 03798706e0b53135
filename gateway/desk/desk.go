package desk

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/desk/ownkey"
	"processidea/gateway/desk/session"
	"processidea/gateway/shared"
	"processidea/store/blobs"
	"processidea/store/signing"
)

// LoginGuard authenticates people once; after that a session names them.
type LoginGuard interface {
	access.Guard
	// LoggedInPerson returns the person who logged in with a name, groups and an account, and their current rights.
	LoggedInPerson(name string, groups []string, account client.Account) (*access.Person, error)
	// SessionSecret returns the secret that seals sessions. Gateways with the same secret accept each other's sessions.
	SessionSecret() []byte
}

// Options configure the desk.
type Options struct {
	*api.API
	LoginGuard LoginGuard
	// IdeaFolder is a folder of Idea files that people can start; empty: they upload their own.
	IdeaFolder string
	// DeciderKeys are the keys that the workers trust, among them people's passkeys; nil: unknown here, so that nobody
	// can sign with a passkey.
	DeciderKeys *signing.KeySource
	// Simulate runs a simulation; nil: simulations are not offered.
	Simulate Simulator
}

const (
	maxConcurrentStoreReads = 2 // Ideas of ten thousand instances take much memory while they are read
	maxConcurrentQueries    = 64
	maxPreviousResults      = 1024
)

// Desk answers requests for pages.
type Desk struct {
	Options
	sessions        *session.Sessions
	mux             *http.ServeMux
	issuerLogin     *access.IssuerLogin // nil: people log in with the token
	ideaCache       *blobs.LRU[*cachedIdea]
	checkCache      *lru.Cache[string, *chainCheck] // by process, digest of its latest Idea, and language
	previousResults *lru.Cache[string, any]         // recent results that took long to find
	storeTasks      *shared.Tasks                   // reads of the store
	workerTasks     *shared.Tasks                   // queries to workers
	serverTasks     *shared.Tasks                   // requests to the Temporal server
	passkeyPages    *ownkey.Pages
}

// New makes a Desk.
func New(o Options) (*Desk, error) {
	sessions, err := session.New(o.LoginGuard.SessionSecret())
	if err != nil {
		return nil, err
	}
	previous, _ := lru.New[string, any](maxPreviousResults) // it fails only for a size below one
	checks, _ := lru.New[string, *chainCheck](maxCachedChecks)
	d := &Desk{Options: o, previousResults: previous, sessions: sessions, mux: http.NewServeMux(), checkCache: checks,
		ideaCache:  blobs.NewLRU(maxCachedIdeas, maxIdeaCacheBytes, func(i *cachedIdea) int { return i.sizeBytes }),
		storeTasks: newTasks(maxConcurrentStoreReads), workerTasks: newTasks(maxConcurrentQueries),
		serverTasks: newTasks(maxConcurrentQueries)}
	d.addPages()
	return d, nil
}

func (d *Desk) addPages() {
	d.handle("GET /{$}", withTokenLogin(requireRight(access.Look, (*visit).showInbox)))
	d.handle("POST /desk/enter", (*visit).logInFromForm)
	d.handle("POST /desk/leave", (*visit).logOut)
	d.mux.HandleFunc("GET /desk/assets/{version}/{name}", serveAsset)
	d.addLogin()
	d.addPasskeyPages()
	d.handlePages(access.Look, map[string]visitHandler{
		"POST /desk/calls/{process}/{call}":         (*visit).decideCall,
		"GET /desk/calls/{process}/{call}":          (*visit).showCall,
		"GET /desk/outcome":                         (*visit).showOutcome,
		"GET /desk/plans/{process}":                 (*visit).showPlan,
		"GET /desk/plans/{process}/plan.svg":        (*visit).drawWaitingPlan,
		"GET /desk/decided":                         (*visit).showOwnDecisions,
		"GET /desk/insights":                        (*visit).showInsights,
		"GET /desk/processes":                       (*visit).showProcesses,
		"GET /desk/processes/{process}":             (*visit).showProcess,
		"GET /desk/processes/{process}/plan.svg":    (*visit).drawPlan,
		"GET /desk/processes/{process}/idea":        (*visit).showIdea,
		"GET /desk/processes/{process}/verify":      (*visit).showVerify,
		"GET /desk/processes/{process}/export.html": (*visit).exportReport,
	})
	d.handlePages(access.Decide, map[string]visitHandler{
		"POST /desk/decide":          (*visit).decideMany,
		"POST /desk/plans/{process}": (*visit).decidePlan,

		"POST /desk/processes/{process}/orders/end": (*visit).endOrder,
		"POST /desk/processes/{process}/deputy":     (*visit).nameDeputy,
	})
	d.handlePages(access.Start, map[string]visitHandler{
		"GET /desk/start":                     (*visit).showStart,
		"POST /desk/start":                    (*visit).start,
		"POST /desk/processes/{process}/fork": (*visit).fork,
	})
	d.handlePages(access.Steer, map[string]visitHandler{
		"POST /desk/processes":               (*visit).resumeAll,
		"POST /desk/processes/{process}":     (*visit).steer,
		"GET /desk/processes/{process}/add":  (*visit).showAddRows,
		"POST /desk/processes/{process}/add": (*visit).addInstances,

		"GET /desk/processes/{process}/undo":  (*visit).showUndo,
		"POST /desk/processes/{process}/undo": (*visit).undo,
	})
	d.handle("/", func(*visit) error { return notFound("There is no such page.") })
}

// IsDeskPath reports whether a path is one of the desk's.
func IsDeskPath(path string) bool { return path == "/" || strings.HasPrefix(path, "/desk/") }

// contentPolicy allows only what this gateway serves. Inline scripts and styles have no effect.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// maxFormBytes bounds what a form sends, in bytes: a thousand decisions, or one value of 64 KB, which escapes make
// larger.
const maxFormBytes = 2 << 20

// ServeHTTP answers a request.
func (d *Desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	// Without this header browsers do not name the page that posts a form.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Method == http.MethodPost && !isFromDesk(r) {
		_ = d.newVisit(w, r).showError(access.NewRefusal(http.StatusForbidden, access.CodeForeignPage,
			"A form of another page may not be sent here."))
		return
	}
	d.mux.ServeHTTP(w, r)
}

// isFromDesk reports whether the browser names a page of the desk as the origin of a form. The fence has already
// refused forms with another origin.
func isFromDesk(r *http.Request) bool {
	return r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// visit is a request for a page, with its response and the person who sent it.
type visit struct {
	*Desk
	*http.Request
	w         http.ResponseWriter
	user      *access.Person
	processID string // the id in the address
}

func (d *Desk) newVisit(w http.ResponseWriter, r *http.Request) *visit {
	return &visit{d, r, w, access.PersonFrom(r.Context()), r.PathValue("process")}
}

// visitHandler answers a visit. If it returns an error, the person is shown that.
type visitHandler func(*visit) error

// handle adds a page for anybody.
func (d *Desk) handle(pattern string, handler visitHandler) {
	d.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v := d.newVisit(w, r)
		if err := handler(v); err != nil {
			_ = v.showError(err)
		}
	})
}

// handlePages adds pages that require a right.
func (d *Desk) handlePages(right access.Right, pages map[string]visitHandler) {
	for pattern, handler := range pages {
		d.handle(pattern, requireRight(right, handler))
	}
}

// requireRight admits logged-in people with a right. Pages that act on a process show it too, so they also require the
// right to look.
func requireRight(right access.Right, handler visitHandler) visitHandler {
	return func(v *visit) error {
		ticket, ok := v.sessions.Read(v.Request)
		switch {
		case ok:
		case v.Header.Get("Sec-Fetch-Site") == "cross-site" && access.IsPageNavigation(v.Request):
			// a redirect from this site makes the browser send the session cookie
			return v.showRedirect("One moment", "Go on", v.URL.RequestURI())
		default:
			return v.askForLogin()
		}
		person, err := v.LoginGuard.LoggedInPerson(ticket.Name, ticket.Groups, ticket.Account)
		if err != nil {
			return err
		}
		v.Request, v.user = v.WithContext(withPageStart(access.WithPerson(v.Context(), person), time.Now())), person
		neededRights := []access.Right{right, access.Look}
		if right == access.Start && v.processID == "" {
			neededRights = neededRights[:1] // the page shows people who start a process only their own input
		}
		for _, right := range neededRights {
			if !person.May(right) {
				return access.Forbidden(person, right)
			}
		}
		if v.Method == http.MethodPost {
			v.Log.Info("asked to act", "page", v.Pattern, "process", v.processID, "by", person.Name)
			release, err := v.readForm()
			defer release()
			if err != nil {
				return err
			}
		}
		return handler(v)
	}
}

// showError shows an error.
func (v *visit) showError(err error) error {
	var pending *pendingPageError
	if errors.As(err, &pending) && v.Method == http.MethodGet {
		return v.showUnderWay(pending)
	}
	var refusal *access.Refusal
	if errors.As(err, &refusal) && refusal.Code == api.CodeTooLarge {
		err = access.NewRefusal(http.StatusRequestEntityTooLarge, api.CodeTooLarge,
			"You sent too much: decide on fewer at once, or start with smaller files.")
	}
	p := v.ExplainAndLog(v.Context(), v.Pattern, err)
	if p.Code == api.CodeNoWorker && v.Method == http.MethodGet {
		v.w.Header().Set("Refresh", strconv.Itoa(workerRetrySeconds))
	}
	f, processID := v.frame(titleByStatus[p.Status]), ""
	if f.HasRight[string(access.Look)] && v.Pattern != "GET /desk/processes/{process}" {
		processID = v.processID
		if p.Status < http.StatusInternalServerError { // else what says the title does not answer, either
			f.ProcessTitle = v.processTitleNow(processID)
		}
	}
	return v.render(p.Status, "problem", problemPage{f, p.Code, detailOf(err), adviceByCode[p.Code], processID})
}

type problemPage struct {
	frame
	Code, Detail, Advice string
	AboutProcess         string // the process that the page is about; empty: none, or this is its own page
}

// workerRetrySeconds is the interval at which a page reloads while no worker answers, in seconds.
const workerRetrySeconds = 5

var titleByStatus = map[int]string{
	http.StatusNotFound: "Nothing is here", http.StatusForbidden: "You may not do that",
	http.StatusConflict:           "It was refused",
	http.StatusServiceUnavailable: "Nobody answers", http.StatusUnprocessableEntity: "That cannot be understood",
	http.StatusInternalServerError:   "Something went wrong",
	http.StatusRequestEntityTooLarge: "Too much at once", http.StatusBadRequest: "That cannot be understood",
}

var adviceByCode = map[string]string{
	api.CodeNoWorker: "The processes are safe, and go on by themselves once they are run again. " +
		"This page looks again by itself.",
	api.CodeUnreachable:  "The server or the store cannot be reached. The processes are safe. Try again in a moment.",
	access.CodeForbidden: "Whoever looks after this desk decides who may do what.",
	access.CodeBrokenRoles: "The processes are safe. Whoever looks after this desk must mend the file: " +
		"the server's log says what is wrong.",
}
