package desk

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/desk/ownkey"
	"processidea/gateway/desk/session"
	"processidea/gateway/intake"
	"processidea/gateway/shared"
	"processidea/store/signing"
)

// Entrance authenticates people once; after that a session names them.
type Entrance interface {
	access.Guard
	// Known returns the person who logged in with a name, groups and an account, and their current rights.
	Known(name string, groups []string, account client.Account) (*access.Person, error)
	// SessionSecret is the key that seals sessions: the same at every gateway of the same people.
	SessionSecret() []byte
}

// Options configure the desk.
type Options struct {
	API      *api.API
	Intake   *intake.Intake
	Client   *client.Client
	Entrance Entrance
	Log      *slog.Logger
	// Ideas is a folder of Idea files that people can start; empty: they upload their own. Tools are the Go tools of
	// the workers, as far as the gateway knows them.
	Ideas string
	Tools ideafiles.Tools
	// Deciders are the keys that the workers trust, among them people's passkeys; nil: unknown here, so that nobody can
	// sign with a passkey.
	Deciders *signing.Source
	// Simulate runs a simulation; nil: simulations are not offered.
	Simulate Simulator
}

const (
	readAtOnce  = 2 // Ideas of ten thousand instances take much memory while they are read
	askedAtOnce = 64
	mostFound   = 1024
)

// Desk answers requests for pages.
type Desk struct {
	Options
	sessions *session.Sessions
	mux      *http.ServeMux
	login    *access.IssuerLogin // nil: people come with the token
	seen     *seen
	checks   *checks
	found    *lru.Cache[string, any] // a moment ago, of what takes long to find
	reading  *shared.Works           // of the store
	asking   *shared.Works           // of workers
	listing  *shared.Works           // of the server
	own      *ownkey.Pages
}

// New makes a Desk.
func New(o Options) (*Desk, error) {
	sessions, err := session.New(o.Entrance.SessionSecret())
	if err != nil {
		return nil, err
	}
	found, err := lru.New[string, any](mostFound)
	if err != nil {
		return nil, err
	}
	d := &Desk{Options: o, found: found, sessions: sessions, mux: http.NewServeMux(), seen: newSeen(),
		checks:  newChecks(),
		reading: newWorks(readAtOnce), asking: newWorks(askedAtOnce), listing: newWorks(askedAtOnce)}
	if d.Tools.Known == nil { // the workers' tools are not known here
		d.Tools.Elsewhere = true
	}
	d.addPages()
	return d, nil
}

func (d *Desk) addPages() {
	d.mux.HandleFunc("GET /{$}", d.enterOr(d.page(access.Look, d.inbox)))
	d.mux.HandleFunc("POST /desk/enter", d.enter)
	d.mux.HandleFunc("POST /desk/leave", d.leave)
	d.mux.HandleFunc("GET /desk/assets/{version}/{name}", asset)
	d.addLogin()
	d.addOwnKey()
	d.add(access.Look, map[string]act{
		"GET /desk/calls/{process}/{call}":          d.showCall,
		"GET /desk/outcome":                         d.showOutcome,
		"GET /desk/plans/{process}":                 d.showPlan,
		"GET /desk/plans/{process}/plan.svg":        d.drawWaiting,
		"GET /desk/insights":                        d.insights,
		"GET /desk/plan-outcome":                    d.showPlanOutcome,
		"GET /desk/processes":                       d.showProcesses,
		"GET /desk/processes/{process}":             d.showProcess,
		"GET /desk/processes/{process}/plan.svg":    d.drawPlan,
		"GET /desk/processes/{process}/idea":        d.showIdea,
		"GET /desk/processes/{process}/verify":      d.verify,
		"GET /desk/processes/{process}/export.html": d.export,
	})
	d.add(access.Decide, map[string]act{
		"POST /desk/calls/{process}/{call}": d.decideCall,
		"POST /desk/decide":                 d.decideMany,
		"POST /desk/plans/{process}":        d.decidePlan,

		"POST /desk/processes/{process}/orders":     d.allow,
		"POST /desk/processes/{process}/orders/end": d.disallow,
		"POST /desk/processes/{process}/deputy":     d.deputy,
	})
	d.add(access.Start, map[string]act{
		"GET /desk/start":                     d.showStart,
		"POST /desk/start":                    d.start,
		"POST /desk/processes/{process}/fork": d.fork,
	})
	d.add(access.Steer, map[string]act{
		"POST /desk/processes":               d.resumeAll,
		"POST /desk/processes/{process}":     d.steer,
		"GET /desk/processes/{process}/add":  d.showAdd,
		"POST /desk/processes/{process}/add": d.addInstances,

		"GET /desk/processes/{process}/undo":  d.showUndo,
		"POST /desk/processes/{process}/undo": d.undo,
	})
	d.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		d.fail(w, r, gone("There is no such page."))
	})
}

// Has reports whether a path is one of the desk's.
func Has(path string) bool { return path == "/" || strings.HasPrefix(path, "/desk/") }

// contentPolicy allows nothing but what comes from here; nothing in a page runs or looks by itself.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// mostForm is in bytes of what a form sends: a thousand decisions, or one value of 64 KB, which escapes make larger.
const mostForm = 2 << 20

// ServeHTTP answers a request.
func (d *Desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	// Without this header browsers do not name the page that posts a form.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Method == http.MethodPost && !isFromHere(r) {
		d.fail(w, r, &access.Refusal{Status: http.StatusForbidden, Code: access.CodeForeignPage,
			Message: "A form of another page may not be sent here."})
		return
	}
	d.mux.ServeHTTP(w, r)
}

// isFromHere reports whether the browser names a page of the desk as the origin of a form. The fence has already
// refused forms with another origin.
func isFromHere(r *http.Request) bool {
	return r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// act handles a request of a logged-in person. It shows them its error.
type act func(w http.ResponseWriter, r *http.Request) error

// add adds pages that take a right.
func (d *Desk) add(right access.Right, pages map[string]act) {
	for pattern, do := range pages {
		d.mux.HandleFunc(pattern, d.page(right, do))
	}
}

// page admits logged-in people with a right. Pages that act on a process show it too, so they also require the right to
// look.
func (d *Desk) page(right access.Right, do act) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ticket, ok := d.sessions.Read(r)
		switch {
		case ok:
		case r.Header.Get("Sec-Fetch-Site") == "cross-site" && access.IsPageNavigation(r):
			d.leadOn(w, r, "One moment", "Go on", r.URL.RequestURI()) // the browser brings the session along from here
			return
		default:
			d.askWho(w, r, http.StatusUnauthorized, "")
			return
		}
		who, err := d.Entrance.Known(ticket.Name, ticket.Groups, ticket.Account)
		if err == nil {
			r = r.WithContext(withPatience(access.With(r.Context(), who)))
		}
		needed := []access.Right{right, access.Look}
		if right == access.Start && r.PathValue("process") == "" {
			needed = needed[:1] // the page shows people who start a process only their own input
		}
		for _, right := range needed {
			if err == nil && !who.May(right) {
				err = access.Forbidden(who, right)
			}
		}
		if err == nil && r.Method == http.MethodPost {
			d.Log.Info("asked to act", "page", r.Pattern, "process", r.PathValue("process"), "by", who.Name)
			var done func()
			done, err = d.readForm(w, r)
			defer done()
		}
		if err == nil {
			err = do(w, r)
		}
		if err != nil {
			d.fail(w, r, err)
		}
	}
}

// fail shows an error.
func (d *Desk) fail(w http.ResponseWriter, r *http.Request, err error) {
	var later *underWay
	if errors.As(err, &later) && r.Method == http.MethodGet {
		d.showUnderWay(w, r, later)
		return
	}
	var refused *access.Refusal
	if errors.As(err, &refused) && refused.Code == api.CodeTooLarge {
		err = &access.Refusal{Status: http.StatusRequestEntityTooLarge, Code: api.CodeTooLarge,
			Message: "What was sent is too large: decide on fewer at once, or start with smaller files."}
	}
	p := d.API.Explain(r.Context(), r.Pattern, err)
	if p.Code == api.CodeNoWorker && r.Method == http.MethodGet {
		w.Header().Set("Refresh", strconv.Itoa(lookForWorker))
	}
	d.render(w, r, p.Status, "problem", struct {
		frame
		Code, Detail, Advice string
	}{d.frame(r, titles[p.Status]), p.Code, p.Detail, advice[p.Code]})
}

// lookForWorker is after how many seconds a page that no worker answered looks again.
const lookForWorker = 5

var titles = map[int]string{
	http.StatusNotFound: "Nothing is here", http.StatusForbidden: "You may not do that",
	http.StatusConflict:           "It was refused",
	http.StatusServiceUnavailable: "Nobody answers", http.StatusUnprocessableEntity: "That cannot be understood",
	http.StatusInternalServerError:   "Something went wrong",
	http.StatusRequestEntityTooLarge: "Too much at once", http.StatusBadRequest: "That cannot be understood",
}

var advice = map[string]string{
	api.CodeNoWorker: "The processes are safe: they go on when a worker runs again. " +
		"This page looks again by itself.",
	api.CodeUnreachable:  "The server or the store cannot be reached. The processes are safe. Try again in a moment.",
	access.CodeForbidden: "The administrators of this gateway decide who may do what.",
	access.CodeRoles: "The processes are safe. The administrators of this gateway must mend the file: " +
		"its log says what is wrong.",
}
