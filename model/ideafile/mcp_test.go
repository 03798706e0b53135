package ideafile_test

import (
	"strings"
	"testing"

	"processidea/model/ideafile"
)

const twoServers = `"mcp": {"files": {"command": ["mcp-files", "/data"], "env": {"LEVEL": "1"}},
  "tickets": {"url": "https://tickets.example/mcp", "headers": {"Authorization": "Bearer $env:TICKETS"}, "tools": ["find"]}}`

func TestServersAreReadByName(t *testing.T) {
	t.Parallel()
	idea, ps := ideafile.ParseIdea([]byte(`{"config": {` + twoServers + `}}`))
	if len(ps) > 0 || len(idea.Config.MCPServers) != 2 {
		t.Fatalf("%v %+v", ps, idea.Config.MCPServers)
	}
	files, tickets := idea.Config.MCPServers[0], idea.Config.MCPServers[1]
	if files.Name != "files" || files.Command[1] != "/data" || files.Env["LEVEL"] != "1" || files.ToolNames != nil {
		t.Errorf("%+v", files)
	}
	if tickets.URL != "https://tickets.example/mcp" || tickets.Headers["Authorization"] != "Bearer $env:TICKETS" ||
		len(tickets.ToolNames) != 1 {
		t.Errorf("%+v", tickets)
	}
	if u := idea.MCPServersToAskForTools(); len(u) != 2 {
		t.Errorf("unlisted: %+v", u)
	}
}

func TestWhatIsNoServerIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		`{"config": {"mcp": []}}`:                                                         `$.config.mcp: want an object, not array`,
		`{"config": {"mcp": {"a": 1}}}`:                                                   `$.config.mcp.a: a server is an object, not number`,
		`{"config": {"mcp": {"a b": {"url": "x"}}}}`:                                      `a server's name has 1 to 32 letters`,
		`{"config": {"mcp": {"_a": {"url": "x"}}}}`:                                       `a server's name has 1 to 32 letters`,
		`{"config": {"mcp": {"a": {}}}}`:                                                  `$.config.mcp.a: a server has command and env, or url and headers`,
		`{"config": {"mcp": {"a": {"url": "x", "command": ["y"]}}}}`:                      `$.config.mcp.a: a server has command and env, or url and headers`,
		`{"config": {"mcp": {"a": {"url": "x", "env": {}}}}}`:                             `$.config.mcp.a: a server has command and env, or url and headers`,
		`{"config": {"mcp": {"a": {"command": "npx x"}}}}`:                                `$.config.mcp.a.command: want a list of texts`,
		`{"config": {"mcp": {"a": {"command": []}}}}`:                                     `$.config.mcp.a.command: want a list of texts`,
		`{"config": {"mcp": {"a": {"command": ["x"], "env": {"N": 1}}}}}`:                 `$.config.mcp.a.env: want an object of texts`,
		`{"config": {"mcp": {"a": {"url": "x", "approval": false}}}}`:                     `$.config.mcp.a.approval: unknown key "approval"`,
		`{"schema": {"tools": {"t": {"_activity": {"mcp": {"server": "b"}}}}}}`:           `$.schema.tools.t._activity.mcp.server: config.mcp names no server "b"`,
		`{"schema": {"tools": {"t": {"_activity": {"mcp": "b"}}}}}`:                       `$.schema.tools.t._activity.mcp: want {"server"`,
		`{"schema": {"tools": {"t": {"_activity": {"mcp": {}}}}}}`:                        `$.schema.tools.t._activity.mcp: want {"server"`,
		`{"schema": {"tools": {"t": {"_activity": {"mcp": {"server": "b", "x": "y"}}}}}}`: `unknown key "x"; mcp has server, tool and digest`,
		`{"schema": {"tools": {"t": {"_activity": {"mcp": {}, "http": {}}}}}}`:            `want a name, or one kind of tool with its settings`,
	} {
		_, ps := ideafile.ParseIdea([]byte(file))
		if !strings.Contains(ps.Error(), want) {
			t.Errorf("%s gives %q", file, ps.Error())
		}
	}
}
