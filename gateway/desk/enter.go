package desk

import (
	"net/http"
	"net/url"
	"strings"

	"processidea/gateway/desk/session"
)

// enterOr logs in a person who comes with a token in the address, and redirects to the address without it.
func (d *Desk) enterOr(otherwise http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("token") && d.login == nil {
			d.admit(w, r, "/")
			return
		}
		otherwise(w, r)
	}
}

// mostUnknown bounds, in bytes, a form of a person who is not logged in yet.
const mostUnknown = 64 << 10

// enter takes the token from a form.
func (d *Desk) enter(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostUnknown)
	to := "/"
	if next := r.PostFormValue("next"); isPage(next) {
		to = next
	}
	asked := r.Clone(r.Context())
	asked.URL.RawQuery = url.Values{"token": {strings.TrimSpace(r.PostFormValue("token"))}}.Encode()
	asked.Header.Del("Authorization")
	d.admit(w, asked, to)
}

// isPage reports whether a path leads to a page of the desk, and to no other site.
func isPage(path string) bool {
	u, err := url.Parse(path)
	return err == nil && u.Scheme == "" && u.Host == "" && u.Opaque == "" && Has(u.Path) &&
		!strings.ContainsAny(path, "\\\r\n\t") && !strings.HasPrefix(path, "//")
}

func (d *Desk) admit(w http.ResponseWriter, r *http.Request, to string) {
	who, err := d.Entrance.Identify(r)
	if err != nil {
		d.askWho(w, r, http.StatusUnauthorized,
			"That is not the token of this desk. If the program has made a new one, it has printed the new address.")
		return
	}
	if err := d.sessions.Begin(w, r,
		session.Ticket{Name: who.Name, Groups: who.Groups, Account: who.Account}); err != nil {
		d.fail(w, r, err)
		return
	}
	d.Log.Info("logged in", "by", who.Name)
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (d *Desk) leave(w http.ResponseWriter, r *http.Request) {
	d.sessions.End(w, r)
	if d.login != nil {
		if end := d.login.End(); end != "" {
			d.leadOn(w, r, "You are logged out here", "Log out where you logged in, too", end)
			return
		}
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// askWho asks for a login.
func (d *Desk) askWho(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	next := r.URL.RequestURI()
	if r.Method != http.MethodGet || r.URL.Query().Has("token") || !isPage(next) {
		next = "/"
	}
	d.askAgain(w, r, status, wrong, next)
}

// askAgain asks who it is, and leads to a page after that.
func (d *Desk) askAgain(w http.ResponseWriter, r *http.Request, status int, wrong, next string) {
	d.render(w, r, status, "enter", struct {
		frame
		Wrong, Next string
		Elsewhere   bool
	}{d.frame(r, "Log in"), wrong, next, d.login != nil})
}
