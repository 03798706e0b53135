package httptool

import (
	"net/url"
	"strings"
)

// Missing lists why this worker cannot run the Calls of a Tool, whatever their parameters: a missing secret, or a host
// that is not allowed.
func (c *Client) Missing(spec any) []error {
	s, err := ParseSpec(spec)
	if err != nil {
		return nil
	}
	return c.missing(s.URL, s.Secrets())
}

// MissingFor is Lacks for a server and texts that are sent to it, such as headers. An empty address means a program on
// this machine.
func (c *Client) MissingFor(address string, textByName map[string]string) []error {
	names := SecretsIn(address)
	for _, text := range textByName {
		names = append(names, SecretsIn(text)...)
	}
	return c.missing(address, names)
}

func (c *Client) missing(address string, secrets []string) (list []error) {
	v := c.newVault()
	for _, name := range secrets {
		if _, err := v.secret(name, OriginOf(address)); err != nil {
			list = append(list, err)
		}
	}
	filledAddress, err := v.insertSecrets(address, nil)
	if err != nil {
		return list // an error about a secret, which is reported already
	}
	var u *url.URL
	if address != "" {
		// No parameter can change the host, which ends before the first parameter.
		urlStart, _, _ := strings.Cut(filledAddress, "{")
		if u, err = parseHTTPURL(urlStart, ""); err != nil {
			return list
		}
		if err := c.checkAllowed(u); err != nil {
			list = append(list, err)
		}
	}
	if err := v.checkHost(u); err != nil {
		list = append(list, err)
	}
	return list
}
