package httptool

import (
	"net/url"
	"strings"
)

// MissingRequirements lists why this worker cannot run the Calls of a Tool, whatever their parameters: a missing
// secret, or a host that is not allowed.
func (c *Client) MissingRequirements(spec any) []error {
	s, err := ParseSpec(spec)
	if err != nil {
		return nil
	}
	return c.listMissingRequirements(s.URL, s.SecretNames())
}

// MissingRequirementsAt is Lacks for a server and texts that are sent to it, such as headers. An empty address means a
// program on this machine.
func (c *Client) MissingRequirementsAt(address string, sentTextByName map[string]string) []error {
	names := SecretNamesIn(address)
	for _, text := range sentTextByName {
		names = append(names, SecretNamesIn(text)...)
	}
	return c.listMissingRequirements(address, names)
}

func (c *Client) listMissingRequirements(address string, secretNames []string) (list []error) {
	v := c.newVault()
	for _, name := range secretNames {
		if _, err := v.useSecret(name, SecretHostOf(address)); err != nil {
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
		if err := c.checkHostAllowed(u); err != nil {
			list = append(list, err)
		}
	}
	if err := v.checkSecretsMayGoTo(u); err != nil {
		list = append(list, err)
	}
	return list
}
