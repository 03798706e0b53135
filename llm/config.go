package llm

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Config configures the server of a worker's Requests, and their rate.
type Config struct {
	ServerName string // the name in OPENAI_SERVERS, with which its variables end; empty: the worker's own
	BaseURL    string // empty: OpenAI's own
	APIKey     string // empty: no Authorization header, as local servers want it
	Model      string // the default model of Ideas that name none; empty: DefaultModel
	// RPM and TPM limit the requests and tokens a minute of all Requests of the worker together; empty: no limit.
	RPM, TPM string
	// SharedRequestLimit and SharedTokenLimit enforce RPM and TPM over all workers; nil: this worker enforces them for
	// itself.
	SharedRequestLimit, SharedTokenLimit SharedRateLimit
	// MaxRetryPause is the longest pause between two attempts at an unavailable server; 0: DefaultMaxRetryPause.
	MaxRetryPause time.Duration
}

// SharedRateLimit limits the rate of Requests over all workers.
type SharedRateLimit interface {
	// Wait waits until a Request that uses about units units may be sent. If that is too far in the future, it returns
	// how far, and the Request keeps its reservation under the key.
	Wait(ctx context.Context, key string, perSecond float64, units int) (delay time.Duration, err error)
	// Spend charges what a Request used beyond its estimate.
	Spend(perSecond float64, extraUnits int)
}

// DefaultModel is used if neither the Idea nor the worker names a model.
const DefaultModel = "gpt-5-mini"

// variableName returns the name of the environment variable that configures this server.
func (c Config) variableName(name string) string {
	if c.ServerName != "" {
		name += VariableSuffix(c.ServerName)
	}
	return name
}

// VariableSuffix returns the ending of a server's variables: "_EU_WEST" for "eu-west".
func VariableSuffix(serverName string) string {
	return "_" + strings.ToUpper(strings.ReplaceAll(serverName, "-", "_"))
}

// IsConfigured reports whether there is a server to ask.
func (c Config) IsConfigured() bool { return c.BaseURL != "" || c.APIKey != "" }

// Check returns the errors in the address, the key, the model and the limits.
func (c Config) Check() error {
	_, err := newRateLimiter(c)
	errs := []error{err, c.checkBaseURL()}
	for name, text := range map[string]string{"OPENAI_API_KEY": c.APIKey, "OPENAI_MODEL": c.Model} {
		if strings.ContainsFunc(text, unicode.IsControl) {
			errs = append(errs, fmt.Errorf("llm: read %s: it has a line break or another control character in it",
				c.variableName(name)))
		}
	}
	return errors.Join(errs...)
}

func (c Config) checkBaseURL() error {
	if c.BaseURL == "" {
		return nil
	}
	refuse := func(reason string) error {
		return fmt.Errorf("llm: read %s: %s", c.variableName("OPENAI_BASE_URL"), reason)
	}
	u, err := url.Parse(c.BaseURL)
	if err == nil && u.Port() != "" {
		_, err = strconv.ParseUint(u.Port(), 10, 16)
	}
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return refuse("want http://host/v1 or https://host/v1")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		return refuse("leave out /chat/completions")
	case u.RawQuery != "" || u.Fragment != "":
		return refuse("leave out the ? or # and what follows, which would not be sent " +
			"(of Azure, https://NAME.openai.azure.com/openai/v1 needs none)")
	}
	return nil
}
