package httptool

import (
	"net/http"

	"processidea/secret"
)

// CheckSecrets refuses a text with a $env: that no name follows, or one of a variable that is not for tools.
func CheckSecrets(text string) error { return checkSecrets(text) }

// Fill puts the secrets into texts such as headers and variables, and gives what strikes them out of what comes back.
func (c *Client) Fill(texts map[string]string) (map[string]string, *secret.Striker, error) {
	v := c.vault()
	out := make(map[string]string, len(texts))
	for name, text := range texts {
		filled, err := v.put(text, nil)
		if err != nil {
			return nil, nil, err
		}
		out[name] = filled
	}
	return out, v.striker(), nil
}

// RoundTripper sends requests under the same rules as those of HTTP tools: to allowed hosts, at addresses that are looked
// at when they are dialled. Redirects are not followed: whoever was allowed is whom is spoken to.
func (c *Client) RoundTripper() http.RoundTripper { return fenced{c} }

type fenced struct{ client *Client }

func (f fenced) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := checkedURL(r.URL.String(), "")
	if err == nil {
		err = f.client.admit(u)
	}
	if err != nil {
		return nil, err
	}
	return f.client.transport.RoundTrip(r)
}

// IsRefused reports whether an error is this worker's word, and not the network's: another attempt would only repeat it.
func IsRefused(err error) bool { return isFinal(err) }
