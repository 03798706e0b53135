package httptool

import (
	"net/http"

	"processidea/internal/secret"
)

// FillSecrets puts the secrets into the address of a server and into texts such as headers, and returns the Redactor
// for the server's answers. An empty address means a program on this machine.
func (c *Client) FillSecrets(address string, textByName map[string]string) (
	filledAddress string, filledTextByName map[string]string, redactor *secret.Redactor, err error,
) {
	v := c.newVault()
	filledAddress, err = v.insertSecrets(address, nil)
	if err != nil {
		return "", nil, nil, err
	}
	filledTextByName = make(map[string]string, len(textByName))
	for name, text := range textByName {
		if filledTextByName[name], err = v.insertSecrets(text, nil); err != nil {
			return "", nil, nil, err
		}
	}
	if address == "" {
		return "", filledTextByName, v.redactor(), v.checkSecretsMayGoTo(nil)
	}
	u, err := parseHTTPURL(filledAddress, "")
	if err != nil {
		return "", nil, nil, finalError{err}
	}
	return filledAddress, filledTextByName, v.redactor(), v.checkSecretsMayGoTo(u)
}

// RoundTripper sends requests under the same rules as those of HTTP tools: to allowed hosts, at addresses that are
// checked when they are dialled. It follows no redirects: only the allowed server is contacted.
func (c *Client) RoundTripper() http.RoundTripper { return allowListTransport{c} }

type allowListTransport struct{ client *Client }

func (f allowListTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := parseHTTPURL(r.URL.String(), "")
	if err == nil {
		err = f.client.checkHostAllowed(u)
	}
	if err != nil {
		return nil, err
	}
	return f.client.transport.RoundTrip(r)
}
