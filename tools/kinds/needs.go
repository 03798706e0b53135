package kinds

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/tools/httptool"
	"processidea/tools/mcptool"
)

// WorkerRequirements lists, one a line, what a worker needs for the Tools, the MCP servers and the LLMs of Ideas:
// hosts, secrets, programs, servers. When a process starts, the worker checks that it has them before anything runs.
func WorkerRequirements(ideas ...*ideafile.Idea) string {
	secretEntries, hosts, commandEntries, llmServerNames := map[string]bool{}, map[string]bool{}, map[string]bool{},
		map[string]bool{}
	addHostAndSecrets := func(v any, address string) {
		host := httptool.HostOf(address)
		if address != "" { // the host is "HOST" if a secret contains it
			hosts[host] = true
		}
		for _, name := range httptool.SecretNamesIn(jsonval.EncodeToString(jsonval.ToJSONValue(v))) {
			secretEntries[name+"@"+httptool.SecretHostOf(address)] = true
		}
	}
	for _, idea := range ideas {
		for _, t := range idea.Tools {
			activitySpec := jsonval.AsObject(t.Source["_activity"])
			addHostAndSecrets(activitySpec, jsonval.AsText(jsonval.Lookup(activitySpec, "http", "url")))
		}
		for _, s := range idea.Config.MCPServers {
			addHostAndSecrets(s, s.URL)
			if len(s.Command) > 0 {
				commandEntries[mcptool.CommandEntryFor(s)] = true
			}
		}
		for _, llm := range slices.Concat(idea.Config.LLMs, idea.Config.RecheckLLMs()) {
			if llm.Server != "" {
				llmServerNames[llm.Server] = true
			}
		}
	}
	var b strings.Builder
	for _, requirement := range []struct {
		variable  string
		separator string
		values    map[string]bool
	}{
		{httptool.AllowListVariable, ",", hosts}, {httptool.SecretsVariable, ", ", secretEntries},
		{mcptool.CommandsVariable, "; ", commandEntries}, {"OPENAI_SERVERS", ",", llmServerNames},
	} {
		if len(requirement.values) > 0 {
			fmt.Fprintf(&b, "where its worker runs, %s must list %s\n", requirement.variable,
				strings.Join(jsonval.SortedKeys(requirement.values), requirement.separator))
		}
	}
	return b.String()
}
