package httptool

import (
	"net/http"

	"processidea/internal/secret"
)

// Fill puts the secrets into the address of a server and into texts such as headers, and gives what strikes them out
// of what comes back. An empty address is that of a program of this machine.
func (c *Client) Fill(address string, texts map[string]string) (
	filledAddress string, filled map[string]string, s *secret.Striker, err error,
) {
	v := c.vault()
	filledAddress, err = v.put(address, nil)
	if err != nil {
		return "", nil, nil, err
	}
	filled = make(map[string]string, len(texts))
	for name, text := range texts {
		if filled[name], err = v.put(text, nil); err != nil {
			return "", nil, nil, err
		}
	}
	if address == "" {
		return "", filled, v.striker(), v.bound("localhost", "")
	}
	u, err := checkedURL(filledAddress, "")
	if err != nil {
		return "", nil, nil, finalCause{err}
	}
	return filledAddress, filled, v.striker(), v.bound(hostAndPort(u))
}

// RoundTripper sends requests under the same rules as those of HTTP tools: to allowed hosts, at addresses that are
// looked at when they are dialled. Redirects are not followed: whoever was allowed is whom is spoken to.
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
