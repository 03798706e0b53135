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

// Needs lists, one a line, what a worker needs for the Tools, the MCP servers and the LLMs of Ideas: hosts, secrets,
// programs, servers. When a process starts, the worker checks that it has them before anything runs.
func Needs(ideas ...*ideafile.Idea) string {
	secrets, hosts, commands, llms := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	note := func(v any, address string) {
		host := httptool.HostOf(address)
		if address != "" { // the host is "HOST" if a secret contains it
			hosts[host] = true
		}
		for _, name := range httptool.SecretsIn(jsonval.EncodeToString(jsonval.ToJSONValue(v))) {
			secrets[name+"@"+httptool.SecretPlaceOf(address)] = true
		}
	}
	for _, idea := range ideas {
		for _, t := range idea.Tools {
			activity := jsonval.AsObject(t.Source["_activity"])
			note(activity, jsonval.AsText(jsonval.At(activity, "http", "url")))
		}
		for _, s := range idea.Config.MCP {
			note(s, s.URL)
			if len(s.Command) > 0 {
				commands[mcptool.EntryFor(s)] = true
			}
		}
		for _, one := range slices.Concat(idea.Config.LLMs, idea.Config.RecheckLLMs()) {
			if one.Server != "" {
				llms[one.Server] = true
			}
		}
	}
	var b strings.Builder
	for _, need := range []struct {
		variable  string
		separator string
		values    map[string]bool
	}{
		{httptool.AllowVariable, ",", hosts}, {httptool.SecretsVariable, ", ", secrets},
		{mcptool.CommandsVariable, "; ", commands}, {"OPENAI_SERVERS", ",", llms},
	} {
		if len(need.values) > 0 {
			fmt.Fprintf(&b, "where its worker runs, %s must list %s\n", need.variable,
				strings.Join(jsonval.SortedKeys(need.values), need.separator))
		}
	}
	return b.String()
}
