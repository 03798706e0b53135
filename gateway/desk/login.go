package desk

import (
	"net/url"
	"time"

	"processidea/gateway/access"
)

// addLogin adds the pages for logging in at the issuer, if people log in there.
func (d *Desk) addLogin() {
	login, ok := d.LoginGuard.(*access.IssuerLogin)
	if !ok {
		return
	}
	d.issuerLogin = login
	d.sessions.IsHTTPSOnly = login.IsHTTPS()
	d.handle("GET /desk/login", (*visit).beginLogin)
	d.handle("GET "+access.CallbackPath, (*visit).finishLogin)
}

// loginAttemptCookieName distinguishes concurrent logins of one browser, in several tabs.
func loginAttemptCookieName(oauthState string) string {
	return "login-" + oauthState[:min(len(oauthState), 8)]
}

// beginLogin redirects to the issuer. It is reached by a link, because the content policy lets no form lead to another
// site.
func (v *visit) beginLogin() error {
	a := access.NewLoginAttempt(deskPathOrRoot(v.FormValue("next")))
	loginURL, err := v.issuerLogin.LoginURL(a)
	if err == nil {
		err = v.sessions.SetValue(v.w, v.Request, loginAttemptCookieName(a.OAuthState), access.LoginAttemptMaxAge, a)
	}
	if err != nil {
		return err
	}
	return v.redirect(loginURL)
}

// finishLogin completes the login of a person who comes back from the issuer in the same browser.
func (v *visit) finishLogin() error {
	q := v.URL.Query()
	var a access.LoginAttempt
	oauthState := q.Get("state")
	if oauthState == "" || !v.sessions.TakeValue(v.w, v.Request, loginAttemptCookieName(oauthState), &a) ||
		a.OAuthState != oauthState ||
		time.Now().After(a.ExpiresAt) {
		return v.showLogin("This login was not begun in this browser, or it took too long. Log in again.", "/")
	}
	if q.Has("error") {
		return v.showLogin(
			"The issuer did not log you in: "+clip(visibleText(q.Get("error")+" "+q.Get("error_description")), 300),
			a.ReturnPath)
	}
	person, err := v.issuerLogin.Finish(v.Context(), a, q.Get("code"))
	if err == nil {
		err = v.logIn(person)
	}
	if err != nil {
		return err
	}
	// The browser would count a redirect as part of the issuer's navigation, and would not send the session cookie.
	return v.showRedirect("You are logged in", "Go on", a.ReturnPath)
}

// showRedirect shows a page that redirects the browser by itself.
func (v *visit) showRedirect(title, text, target string) error {
	if u, err := url.Parse(target); err == nil {
		target = u.String() // percent-encoded, as a header wants it
	}
	v.w.Header().Set("Refresh", "0; url="+target)
	return v.show("leadon", redirectPage{v.frame(title), text, target})
}

type redirectPage struct {
	frame
	Text, Target string
}
