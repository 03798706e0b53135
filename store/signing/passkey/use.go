package passkey

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"processidea/model/jsonval"
)

// Site says where a passkey is used.
type Site struct {
	// RPID is the name of the site that the passkey was made for (WebAuthn: the relying party's id).
	RPID string `json:"rpId"`
	// Origins are the origins on whose pages the passkey may sign, in the browsers' form: https://desk.example.com.
	Origins []string `json:"origins"`
}

// ParseSite reads the member "passkey" of a JWK.
func ParseSite(v any) (*Site, error) {
	m, isObject := v.(jsonval.Object)
	u := &Site{}
	u.RPID = jsonval.AsText(m["rpId"])
	var areTexts bool
	u.Origins, areTexts = jsonval.AsStringList(m["origins"])
	if !isObject || u.RPID == "" || !areTexts || len(u.Origins) == 0 {
		return nil,
			errors.New(
				`"passkey" says "rpId", the site that it was made for, and "origins", the addresses whose pages it may be used on`)
	}
	for _, origin := range u.Origins {
		if err := u.checkOrigin(origin); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// checkOrigin returns an error if browsers would not let the passkey sign on the pages of an origin.
func (u *Site) checkOrigin(origin string) error {
	originURL, err := url.Parse(origin)
	if err != nil || originURL.Host == "" || origin != strings.ToLower(originURL.Scheme+"://"+originURL.Host) {
		return fmt.Errorf(
			"%q in \"origins\" is not of the form https://host[:port], in lower case and with nothing after it", origin)
	}
	hostName := originURL.Hostname()
	switch {
	case hostName != u.RPID && !strings.HasSuffix(hostName, "."+u.RPID):
		return fmt.Errorf("%q in \"origins\" is no address of %q, for which the passkey was made", origin, u.RPID)
	case originURL.Scheme != "https" && !IsLocalhost(hostName):
		return fmt.Errorf("%q in \"origins\" is no https address", origin)
	}
	return nil
}

// IsLocalhost reports whether browsers allow passkeys without https on a page of that host name.
func IsLocalhost(hostName string) bool {
	return hostName == "localhost" || strings.HasSuffix(hostName, ".localhost")
}

// SiteAt returns the Site of a passkey that is made on the pages of an origin. The error says why browsers make none
// there.
func SiteAt(origin string) (*Site, error) {
	originURL, err := url.Parse(origin)
	switch {
	case err != nil || originURL.Host == "":
		return nil, errors.New("the browser does not say on which page it is")
	case net.ParseIP(originURL.Hostname()) != nil:
		return nil, errors.New("browsers make passkeys for names, and " + originURL.Hostname() + " is a number")
	}
	u := &Site{RPID: originURL.Hostname(), Origins: []string{origin}}
	return u, u.checkOrigin(origin)
}
