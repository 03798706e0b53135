package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"processidea/llm"
	"processidea/model/jsonval"
)

// LLMServersVariable lists the names of more LLM servers, separated by commas. The server "backup" is configured by
// OPENAI_BASE_URL_BACKUP, OPENAI_API_KEY_BACKUP and so on.
const LLMServersVariable = "OPENAI_SERVERS"

// LLMFromEnvironment reads the worker's LLM from OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL, and its limits from
// OPENAI_RPM and OPENAI_TPM. Empty is unset.
func LLMFromEnvironment(getenv func(string) string) llm.Config { return llmFromVariables(getenv, "") }

func llmFromVariables(getenv func(string) string, suffix string) llm.Config {
	getVariable := func(name string) string { return strings.TrimSpace(getenv(name + suffix)) }
	return llm.Config{
		BaseURL: getVariable("OPENAI_BASE_URL"), APIKey: getVariable("OPENAI_API_KEY"),
		Model: getVariable("OPENAI_MODEL"),
		RPM:   getVariable("OPENAI_RPM"), TPM: getVariable("OPENAI_TPM"),
	}
}

func llmServersFromEnvironment(getenv func(string) string) map[string]llm.Config {
	servers := map[string]llm.Config{}
	for name := range strings.SplitSeq(getenv(LLMServersVariable), ",") {
		if name = strings.TrimSpace(name); name != "" {
			c := llmFromVariables(getenv, llm.VariableSuffix(name))
			c.ServerName = name
			servers[name] = c
		}
	}
	return servers
}

// checkLLMServers returns what is wrong with the settings of servers.
func checkLLMServers(servers map[string]llm.Config) error {
	var errs []error
	for name, server := range jsonval.Sorted(servers) {
		err := server.Check()
		if !server.IsConfigured() {
			suffix := llm.VariableSuffix(name)
			err = fmt.Errorf("it has neither OPENAI_BASE_URL%s nor OPENAI_API_KEY%s", suffix, suffix)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("engine: read %s: %q: %w", LLMServersVariable, name, err))
		}
	}
	return errors.Join(errs...)
}

// newLLMClients makes the Clients of servers. They share their limits with the Clients of other workers.
func newLLMClients(configByServer map[string]llm.Config, maxPause time.Duration,
	sharedRate func(name string) llm.SharedRateLimit) (map[string]*llm.Client, error) {
	clientByServer := make(map[string]*llm.Client, len(configByServer))
	for name, config := range configByServer {
		config.MaxRetryPause = maxPause
		config.SharedRequestLimit, config.SharedTokenLimit = sharedRate("_requests/"+name), sharedRate("_tokens/"+name)
		c, err := llm.New(config)
		if err != nil {
			return nil, fmt.Errorf("engine: read %s: %q: %w", LLMServersVariable, name, err)
		}
		clientByServer[name] = c
	}
	return clientByServer, nil
}
