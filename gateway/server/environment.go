package server

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/user"
	"strings"

	"processidea/gateway/access"
	"processidea/gateway/hooks"
	"processidea/store/signing"
)

// The environment variables that configure who may use a gateway.
const (
	IssuerVariable   = "PROCESSIDEA_OIDC_ISSUER"   // an OpenID Connect issuer
	AudienceVariable = "PROCESSIDEA_OIDC_AUDIENCE" // the audience of its tokens
	NameVariable     = "PROCESSIDEA_OIDC_NAME"     // the claim with a person's name; unset: email
	// true: an email counts even if the issuer does not say whether it is verified
	UnverifiedVariable = "PROCESSIDEA_OIDC_UNVERIFIED"
	GroupsVariable     = "PROCESSIDEA_OIDC_GROUPS" // the claim with the groups; unset: groups
	// The client with which people log in at the issuer in a browser, and its scopes beside openid.
	ClientVariable = "PROCESSIDEA_OIDC_CLIENT_ID"
	SecretVariable = "PROCESSIDEA_OIDC_CLIENT_SECRET"
	ScopesVariable = "PROCESSIDEA_OIDC_SCOPES"
	URLVariable    = "PROCESSIDEA_GATEWAY_URL"   // the address under which people see the gateway
	RolesVariable  = "PROCESSIDEA_ROLES"         // the file that says who may do what
	TokenVariable  = "PROCESSIDEA_GATEWAY_TOKEN" // the one token, without an issuer
	// true: allows that token on an address that other machines can reach
	BeyondVariable    = "PROCESSIDEA_GATEWAY_BEYOND"
	HostsVariable     = "PROCESSIDEA_GATEWAY_HOSTS"
	OriginsVariable   = "PROCESSIDEA_GATEWAY_ORIGINS"
	HooksVariable     = "PROCESSIDEA_HOOKS"         // the file of rules for webhooks
	IdeasVariable     = "PROCESSIDEA_MCP_IDEAS"     // the folder of the Idea files that agents can start
	ApprovalsVariable = "PROCESSIDEA_MCP_APPROVALS" // true: agents may decide on Calls
	KeyVariable       = "PROCESSIDEA_GATEWAY_KEY"   // the file of the key that signs decisions
)

// FromEnvironment reads the settings of a gateway that listens at an address. who is the person that the gateway's
// token stands for. The error joins one error for each missing or wrong setting.
func FromEnvironment(address string, who access.Person, getenv func(string) string) (o Options, err error) {
	list := func(name string) []string {
		return strings.FieldsFunc(getenv(name), func(r rune) bool { return r == ',' || r == ' ' })
	}
	o.Fence = access.Fence{Hosts: list(HostsVariable), Origins: list(OriginsVariable)}
	wrong := []error{checkSettings(o.Fence, getenv)}
	if u, err := url.Parse(getenv(URLVariable)); err == nil && u.Host != "" {
		o.Fence.Hosts = append(o.Fence.Hosts, u.Hostname())
	}
	o.Hooks, err = HooksFromEnvironment(getenv)
	wrong = append(wrong, err)
	o.Deciders, err = signing.FromEnvironment(context.Background(), getenv)
	wrong = append(wrong, err)
	o.Agents = AgentsFromEnvironment(getenv)
	var key *signing.PrivateKey
	if file := getenv(KeyVariable); file != "" {
		key, err = signing.LoadPrivateKey(file)
		wrong = append(wrong, errorOf(KeyVariable, err))
	}
	if getenv(IssuerVariable) != "" {
		o.Guard, err = issuerGuard(key, getenv)
	} else {
		o.Guard, err = tokenGuard(address, who, key, getenv)
	}
	return o, errors.Join(append(wrong, err)...)
}

// errorOf adds the name of a variable to an error; nil stays nil.
func errorOf(variable string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", variable, err)
}

func tokenGuard(address string, who access.Person, key *signing.PrivateKey,
	getenv func(string) string) (access.Guard, error) {
	token := getenv(TokenVariable)
	switch {
	case token == "":
		return nil, errors.New("nobody could use the gateway: set " + IssuerVariable +
			", or, for this machine alone, " + TokenVariable)
	case !IsLocal(address) && getenv(BeyondVariable) != "true":
		return nil, fmt.Errorf("%s is only for this machine, but other machines can reach %s: set %s, or %s=true "+
			"if they cannot, as in a container",
			TokenVariable, address, IssuerVariable, BeyondVariable)
	}
	if speaker := key.For(who.Name, who.Groups); speaker != nil {
		who.Key = speaker
	}
	guard, err := access.NewTokenGuard(token, who)
	return guard, errorOf(TokenVariable, err)
}

// checkSettings returns errors for settings that are malformed or have no effect. Otherwise they would be ignored
// silently.
func checkSettings(fence access.Fence, getenv func(string) string) error {
	var all []error
	wrong := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	for _, name := range []string{UnverifiedVariable, BeyondVariable, ApprovalsVariable} {
		if text := getenv(name); text != "" && text != "true" && text != "false" {
			wrong("%s is %q; want true or false", name, text)
		}
	}
	for needed, names := range map[string][]string{
		IssuerVariable: {AudienceVariable, NameVariable, UnverifiedVariable, GroupsVariable, ClientVariable,
			RolesVariable},
		ClientVariable: {SecretVariable, ScopesVariable},
	} {
		for _, name := range names {
			if getenv(name) != "" && getenv(needed) == "" {
				wrong("%s has no effect without %s: set that too, or unset it", name, needed)
			}
		}
	}
	for _, host := range fence.Hosts {
		if u, err := url.Parse("http://" + host); err != nil || u.Host != host || u.Hostname() != host {
			wrong("%s: %q is not the name of a host without a port", HostsVariable, host)
		}
	}
	for _, origin := range fence.Origins {
		if err := access.CheckOrigin(origin); err != nil {
			wrong("%s: %q is %w", OriginsVariable, origin, err)
		}
	}
	if at := strings.TrimSuffix(getenv(URLVariable), "/"); at != "" {
		if err := access.CheckOrigin(at); err != nil {
			wrong("%s: %q is %w", URLVariable, at, err)
		}
	}
	if folder := getenv(IdeasVariable); folder != "" {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			wrong("%s: %q is not a readable folder", IdeasVariable, folder)
		}
	}
	return errors.Join(all...)
}

// AgentsFromEnvironment reads what agents may use.
func AgentsFromEnvironment(getenv func(string) string) Agents {
	return Agents{Ideas: getenv(IdeasVariable), Approvals: getenv(ApprovalsVariable) == "true",
		Tools: hooks.ToolsElsewhere()}
}

// HooksFromEnvironment reads the rules for webhooks that the environment names, or returns nil if it names none.
func HooksFromEnvironment(getenv func(string) string) (*hooks.Rules, error) {
	file := getenv(HooksVariable)
	if file == "" {
		return nil, nil
	}
	rules, err := hooks.Open(file, getenv)
	return rules, errorOf(HooksVariable, err)
}

func issuerGuard(key *signing.PrivateKey, getenv func(string) string) (access.Guard, error) {
	var wrong []error
	roles, err := access.OpenRoles(getenv(RolesVariable))
	if err = errorOf(RolesVariable, err); getenv(RolesVariable) == "" {
		err = errors.New("nothing says who may look, start, decide and steer: set " + RolesVariable)
	}
	wrong = append(wrong, err)
	audience := getenv(AudienceVariable)
	if audience == "" {
		wrong = append(wrong, errors.New(AudienceVariable+" is missing: set it to the audience of the tokens for this "+
			"gateway, since the issuer makes tokens for many programs"))
		audience = AudienceVariable // so that the other settings are still checked
	}
	guard, err := access.NewIssuerGuard(access.Issuer{
		URL: getenv(IssuerVariable), Audience: audience, Name: getenv(NameVariable), Groups: getenv(GroupsVariable),
		Unverified: getenv(UnverifiedVariable) == "true", Roles: roles, Key: key,
	})
	wrong = append(wrong, errorOf(IssuerVariable, err))
	if getenv(ClientVariable) == "" {
		return guard, errors.Join(wrong...)
	}
	client := access.LoginClient{
		ID: getenv(ClientVariable), Secret: getenv(SecretVariable), URL: strings.TrimSuffix(getenv(URLVariable), "/"),
		Scopes: strings.Fields(getenv(ScopesVariable)),
	}
	login, err := access.NewIssuerLogin(guard, client)
	return login, errors.Join(append(wrong, errorOf(ClientVariable+", "+SecretVariable+", "+URLVariable, err))...)
}

// DefaultAddress is the default address of a gateway.
const DefaultAddress = "127.0.0.1:8300"

// SystemUser is the system user who runs this program, with the groups of PROCESSIDEA_GROUPS.
func SystemUser(getenv func(string) string) access.Person {
	p := access.Person{Name: getenv("USER")}
	if u, err := user.Current(); err == nil {
		p.Name = u.Username
	}
	for _, name := range strings.Split(getenv("PROCESSIDEA_GROUPS"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			p.Groups = append(p.Groups, name)
		}
	}
	return p
}
