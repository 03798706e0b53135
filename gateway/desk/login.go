package desk

import (
	"net/http"
	"net/url"
	"time"

	"processidea/gateway/access"
	"processidea/gateway/desk/session"
)

// addLogin has people log in at the issuer, where the entrance is one.
func (d *Desk) addLogin() {
	login, ok := d.Entrance.(*access.IssuerLogin)
	if !ok {
		return
	}
	d.login = login
	d.sessions.Secure = login.Secure()
	d.mux.HandleFunc("GET /desk/login", d.beginLogin)
	d.mux.HandleFunc("GET "+access.CallbackPath, d.finishLogin)
}

// attemptName distinguishes concurrent logins of one browser, in several tabs.
func attemptName(state string) string { return "login-" + state[:min(len(state), 8)] }

// beginLogin leads to the issuer. It is a link and no form, as the policy lets no form lead elsewhere.
func (d *Desk) beginLogin(w http.ResponseWriter, r *http.Request) {
	next := r.URL.Query().Get("next")
	if !isPage(next) {
		next = "/"
	}
	a := access.NewAttempt(next)
	to, err := d.login.Begin(a)
	if err == nil {
		err = d.sessions.Keep(w, r, attemptName(a.State), access.CallbackPath, access.AttemptLasts, a)
	}
	if err != nil {
		d.fail(w, r, err)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// finishLogin completes the login of a person who comes back from the issuer in the same browser.
func (d *Desk) finishLogin(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	var a access.Attempt
	state := q.Get("state")
	if state == "" || !d.sessions.Take(w, r, attemptName(state), access.CallbackPath, &a) || a.State != state ||
		time.Now().After(a.Until) {
		d.askAgain(w, r, http.StatusUnauthorized,
			"This login was not begun in this browser, or it took too long. Log in again.", "/")
		return
	}
	if q.Has("error") {
		d.askAgain(w, r, http.StatusUnauthorized,
			"The issuer did not log you in: "+clip(visible(q.Get("error")+" "+q.Get("error_description")), 300), a.Next)
		return
	}
	who, err := d.login.Finish(r.Context(), a, q.Get("code"))
	if err == nil {
		err = d.sessions.Begin(w, r, session.Ticket{Name: who.Name, Groups: who.Groups, Account: who.Account})
	}
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.Log.Info("logged in", "by", who.Name)
	// A redirect would still be of the issuer's making, and its browser would not bring the session along.
	d.leadOn(w, r, "You are logged in", "Go on", a.Next)
}

// leadOn shows a page that redirects the browser by itself.
func (d *Desk) leadOn(w http.ResponseWriter, r *http.Request, title, text, to string) {
	if u, err := url.Parse(to); err == nil {
		to = u.String() // percent-encoded, as a header wants it
	}
	w.Header().Set("Refresh", "0; url="+to)
	d.render(w, r, http.StatusOK, "leadon", struct {
		frame
		Text, To string
	}{d.frame(r, title), text, to})
}
