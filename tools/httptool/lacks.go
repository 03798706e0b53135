package httptool

import "strings"

// Lacks says what keeps this worker from running the Calls of a Tool, whatever their parameters: a secret, or the host.
func (c *Client) Lacks(spec any) []error {
	s, err := ParseSpec(spec)
	if err != nil {
		return nil
	}
	return c.lacks(s.URL, s.Secrets())
}

// LacksFor says the same of a server that texts such as headers are sent to. Without an address it is a program of this
// machine.
func (c *Client) LacksFor(address string, texts map[string]string) []error {
	names := SecretsIn(address)
	for _, text := range texts {
		names = append(names, SecretsIn(text)...)
	}
	return c.lacks(address, names)
}

func (c *Client) lacks(address string, secrets []string) (list []error) {
	v := c.vault()
	for _, name := range secrets {
		if _, err := v.secret(name, HostOf(address)); err != nil {
			list = append(list, err)
		}
	}
	filled, err := v.put(address, nil)
	if err != nil {
		return list // which is said of the secret
	}
	host, port := "localhost", ""
	if address != "" {
		// No parameter can change the host: what stands before the first one tells it.
		beginning, _, _ := strings.Cut(filled, "{")
		u, err := checkedURL(beginning, "")
		if err != nil {
			return list
		}
		if err := c.admit(u); err != nil {
			list = append(list, err)
		}
		host, port = hostAndPort(u)
	}
	if err := v.bound(host, port); err != nil {
		list = append(list, err)
	}
	return list
}
