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
	IssuerVariable    = "PROCESSIDEA_OIDC_ISSUER"   // an OpenID Connect issuer
	AudienceVariable  = "PROCESSIDEA_OIDC_AUDIENCE" // the audience of its tokens
	NameClaimVariable = "PROCESSIDEA_OIDC_NAME"     // the claim with a person's name; unset: email
	// true: an email counts even if the issuer does not say whether it is verified
	AllowUnverifiedEmailVariable = "PROCESSIDEA_OIDC_UNVERIFIED"
	GroupsClaimVariable          = "PROCESSIDEA_OIDC_GROUPS" // the claim with the groups; unset: groups
	// The client with which people log in at the issuer in a browser, and its scopes beside openid.
	ClientIDVariable     = "PROCESSIDEA_OIDC_CLIENT_ID"
	ClientSecretVariable = "PROCESSIDEA_OIDC_CLIENT_SECRET"
	ScopesVariable       = "PROCESSIDEA_OIDC_SCOPES"
	GatewayURLVariable   = "PROCESSIDEA_GATEWAY_URL"   // the address under which people see the gateway
	RolesVariable        = "PROCESSIDEA_ROLES"         // the file that says who may do what
	TokenVariable        = "PROCESSIDEA_GATEWAY_TOKEN" // the one token, without an issuer
	// true: allows that token on an address that other machines can reach
	AllowRemoteTokenVariable    = "PROCESSIDEA_GATEWAY_BEYOND"
	HostsVariable               = "PROCESSIDEA_GATEWAY_HOSTS"
	OriginsVariable             = "PROCESSIDEA_GATEWAY_ORIGINS"
	HooksVariable               = "PROCESSIDEA_HOOKS"         // the file of rules for webhooks
	IdeaFolderVariable          = "PROCESSIDEA_MCP_IDEAS"     // the folder of the Idea files that agents can start
	AllowAgentDecisionsVariable = "PROCESSIDEA_MCP_APPROVALS" // true: agents may decide on Calls
	SigningKeyVariable          = "PROCESSIDEA_GATEWAY_KEY"   // the file of the key that signs decisions
)

// FromEnvironment reads the settings of a gateway that listens at an address. who is the person that the gateway's
// token stands for. The error joins one error for each missing or wrong setting.
func FromEnvironment(address string, tokenOwner access.Person, getenv func(string) string) (o Options, err error) {
	splitList := func(name string) []string {
		return strings.FieldsFunc(getenv(name), func(r rune) bool { return r == ',' || r == ' ' })
	}
	o.OriginPolicy = access.OriginPolicy{OwnHostNames: splitList(HostsVariable),
		AllowedOrigins: splitList(OriginsVariable)}
	errs := []error{checkSettings(o.OriginPolicy, getenv)}
	if u, err := url.Parse(getenv(GatewayURLVariable)); err == nil && u.Host != "" {
		o.OriginPolicy.OwnHostNames = append(o.OriginPolicy.OwnHostNames, u.Hostname())
	}
	o.Hooks, err = HooksFromEnvironment(getenv)
	errs = append(errs, err)
	o.DeciderKeys, err = signing.FromEnvironment(context.Background(), getenv)
	errs = append(errs, err)
	o.Agents = AgentOptionsFromEnvironment(getenv)
	var decisionSigningKey *signing.PrivateKey
	if file := getenv(SigningKeyVariable); file != "" {
		decisionSigningKey, err = signing.LoadPrivateKey(file)
		errs = append(errs, withVariable(SigningKeyVariable, err))
	}
	if getenv(IssuerVariable) != "" {
		o.Guard, err = issuerGuard(decisionSigningKey, getenv)
	} else {
		o.Guard, err = tokenGuard(address, tokenOwner, decisionSigningKey, getenv)
	}
	return o, errors.Join(append(errs, err)...)
}

// withVariable adds the name of a variable to an error; nil stays nil.
func withVariable(variable string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", variable, err)
}

func tokenGuard(address string, tokenOwner access.Person, decisionSigningKey *signing.PrivateKey,
	getenv func(string) string) (access.Guard, error) {
	token := getenv(TokenVariable)
	switch {
	case token == "":
		return nil, errors.New("nobody could use the gateway: set " + IssuerVariable +
			", or, for this machine alone, " + TokenVariable)
	case !IsLocal(address) && getenv(AllowRemoteTokenVariable) != "true":
		return nil, fmt.Errorf("%s is only for this machine, but other machines can reach %s: set %s, or %s=true "+
			"if they cannot, as in a container",
			TokenVariable, address, IssuerVariable, AllowRemoteTokenVariable)
	}
	if signer := decisionSigningKey.SignerFor(tokenOwner.Name, tokenOwner.Groups); signer != nil {
		tokenOwner.Signer = signer
	}
	guard, err := access.NewTokenGuard(token, tokenOwner)
	return guard, withVariable(TokenVariable, err)
}

// checkSettings returns errors for settings that are malformed or have no effect. Otherwise they would be ignored
// silently.
func checkSettings(originPolicy access.OriginPolicy, getenv func(string) string) error {
	var errs []error
	addError := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, name := range []string{AllowUnverifiedEmailVariable, AllowRemoteTokenVariable} {
		errs = append(errs, checkBool(name, getenv))
	}
	errs = append(errs, CheckAgentSettings(getenv))
	for requiredVariable, names := range map[string][]string{
		IssuerVariable: {AudienceVariable, NameClaimVariable, AllowUnverifiedEmailVariable, GroupsClaimVariable,
			ClientIDVariable,
			RolesVariable},
		ClientIDVariable: {ClientSecretVariable, ScopesVariable},
	} {
		for _, name := range names {
			if getenv(name) != "" && getenv(requiredVariable) == "" {
				addError("%s has no effect without %s: set that too, or unset it", name, requiredVariable)
			}
		}
	}
	for _, host := range originPolicy.OwnHostNames {
		if u, err := url.Parse("http://" + host); err != nil || u.Host != host || u.Hostname() != host {
			addError("%s: %q is not the name of a host without a port", HostsVariable, host)
		}
	}
	for _, origin := range originPolicy.AllowedOrigins {
		if err := access.CheckOriginFormat(origin); err != nil {
			addError("%s: %q is %w", OriginsVariable, origin, err)
		}
	}
	if gatewayURL := strings.TrimSuffix(getenv(GatewayURLVariable), "/"); gatewayURL != "" {
		if err := access.CheckOriginFormat(gatewayURL); err != nil {
			addError("%s: %q is %w", GatewayURLVariable, gatewayURL, err)
		}
	}
	return errors.Join(errs...)
}

func checkBool(name string, getenv func(string) string) error {
	if text := getenv(name); text != "" && text != "true" && text != "false" {
		return fmt.Errorf("%s is %q; want true or false", name, text)
	}
	return nil
}

// CheckAgentSettings returns errors for what AgentOptionsFromEnvironment would ignore silently.
func CheckAgentSettings(getenv func(string) string) error {
	err := checkBool(AllowAgentDecisionsVariable, getenv)
	if folder := getenv(IdeaFolderVariable); folder != "" {
		if info, statErr := os.Stat(folder); statErr != nil || !info.IsDir() {
			err = errors.Join(err, fmt.Errorf("%s: %q is not a readable folder", IdeaFolderVariable, folder))
		}
	}
	return err
}

// AgentOptionsFromEnvironment reads what agents may use.
func AgentOptionsFromEnvironment(getenv func(string) string) AgentOptions {
	return AgentOptions{IdeaFolder: getenv(IdeaFolderVariable),
		AllowDecisions: getenv(AllowAgentDecisionsVariable) == "true",
		Tools:          hooks.ToolsOfOtherWorkers()}
}

// HooksFromEnvironment reads the rules for webhooks that the environment names, or returns nil if it names none.
func HooksFromEnvironment(getenv func(string) string) (*hooks.Rules, error) {
	file := getenv(HooksVariable)
	if file == "" {
		return nil, nil
	}
	rules, err := hooks.Open(file, getenv)
	return rules, withVariable(HooksVariable, err)
}

func issuerGuard(decisionSigningKey *signing.PrivateKey, getenv func(string) string) (access.Guard, error) {
	var errs []error
	roles, err := access.OpenRoles(getenv(RolesVariable))
	if err = withVariable(RolesVariable, err); getenv(RolesVariable) == "" {
		err = errors.New("nothing says who may look, start, decide and steer: set " + RolesVariable)
	}
	errs = append(errs, err)
	audience := getenv(AudienceVariable)
	if audience == "" {
		errs = append(errs, errors.New(AudienceVariable+" is missing: set it to the audience of the tokens for this "+
			"gateway, since the issuer makes tokens for many programs"))
		audience = AudienceVariable // so that the other settings are still checked
	}
	guard, err := access.NewIssuerGuard(access.Issuer{
		URL: getenv(IssuerVariable), Audience: audience, NameClaim: getenv(NameClaimVariable),
		GroupsClaim:           getenv(GroupsClaimVariable),
		AllowsUnverifiedEmail: getenv(AllowUnverifiedEmailVariable) == "true", Roles: roles,
		DecisionSigningKey: decisionSigningKey,
	})
	errs = append(errs, withVariable(IssuerVariable, err))
	if getenv(ClientIDVariable) == "" {
		return guard, errors.Join(errs...)
	}
	loginClient := access.LoginClient{
		ID: getenv(ClientIDVariable), Secret: getenv(ClientSecretVariable),
		GatewayURL: strings.TrimSuffix(getenv(GatewayURLVariable), "/"),
		Scopes:     strings.Fields(getenv(ScopesVariable)),
	}
	loginGuard, err := access.NewIssuerLogin(guard, loginClient)
	return loginGuard, errors.Join(append(errs,
		withVariable(ClientIDVariable+", "+ClientSecretVariable+", "+GatewayURLVariable, err))...)
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
