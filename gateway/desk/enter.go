package desk

import (
	"net/http"
	"net/url"
	"strings"

	"processidea/gateway/access"
	"processidea/gateway/desk/session"
)

// withTokenLogin logs in a person who comes with a token in the address, and redirects to the address without it.
func withTokenLogin(next visitHandler) visitHandler {
	return func(v *visit) error {
		if v.URL.Query().Has("token") && v.issuerLogin == nil {
			return v.logInWithToken(v.Request, "/")
		}
		return next(v)
	}
}

// maxLoginFormBytes bounds, in bytes, a form of a person who is not logged in yet.
const maxLoginFormBytes = 64 << 10

// logInFromForm logs in a person with the token in a form.
func (v *visit) logInFromForm() error {
	v.Body = http.MaxBytesReader(v.w, v.Body, maxLoginFormBytes)
	target := deskPathOrRoot(v.PostFormValue("next"))
	tokenRequest := v.Clone(v.Context())
	tokenRequest.URL.RawQuery = url.Values{"token": {strings.TrimSpace(v.PostFormValue("token"))}}.Encode()
	tokenRequest.Header.Del("Authorization")
	return v.logInWithToken(tokenRequest, target)
}

// deskPathOrRoot returns path if it leads to a page of the desk, or else the path of the first page.
func deskPathOrRoot(path string) string {
	u, err := url.Parse(path)
	if err == nil && u.Scheme == "" && u.Host == "" && u.Opaque == "" && IsDeskPath(u.Path) &&
		!strings.ContainsAny(path, "\\\r\n\t") && !strings.HasPrefix(path, "//") {
		return path
	}
	return "/"
}

// logInWithToken logs in the person whose request has the token, and redirects to a page.
func (v *visit) logInWithToken(tokenRequest *http.Request, target string) error {
	person, err := v.LoginGuard.Identify(tokenRequest)
	if err != nil {
		return v.showLogin("That is not the token of this desk. If the program has made a new one, it has printed the "+
			"new address.", target)
	}
	if err := v.logIn(person); err != nil {
		return err
	}
	return v.redirect(target)
}

// logIn begins the session of a person.
func (v *visit) logIn(user *access.Person) error {
	err := v.sessions.Begin(v.w, v.Request, session.Ticket{Name: user.Name, Groups: user.Groups, Account: user.Account})
	if err == nil {
		v.Log.Info("logged in", "by", user.Name)
	}
	return err
}

func (v *visit) logOut() error {
	v.sessions.End(v.w, v.Request)
	if v.issuerLogin != nil {
		if logoutURL := v.issuerLogin.LogoutURL(); logoutURL != "" {
			return v.showRedirect("You are logged out here", "Log out where you logged in, too", logoutURL)
		}
	}
	return v.redirect("/")
}

// askForLogin asks for a login. After that, the person gets this page, or the page with the form that was sent.
func (v *visit) askForLogin() error {
	notice, page := "", v.URL
	if v.Method == http.MethodPost {
		notice = "You are not logged in any more, and nothing was done. Log in, and send it again: where the browser " +
			"goes back to the form, it mostly has what you typed."
		page, _ = url.Parse(v.Referer())
	}
	if page == nil || page.Query().Has("token") {
		page = &url.URL{Path: "/"}
	}
	return v.showLogin(notice, deskPathOrRoot(page.RequestURI()))
}

// showLogin shows the login page, which leads to the page nextPath.
func (v *visit) showLogin(notice, nextPath string) error {
	return v.render(http.StatusUnauthorized, "enter", loginPage{v.frame("Log in"), notice, nextPath,
		v.issuerLogin != nil})
}

type loginPage struct {
	frame
	FormError, NextPath string
	LogsInAtIssuer      bool
}
