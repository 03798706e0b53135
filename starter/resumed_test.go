package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"processidea/starter/internal/exit"
)

// All that a worker lacks is said at once and before anything has an effect, with what to set; the line with which the
// process goes on is said too, and works where it is said.
func TestWhatAWorkerLacksIsSaidAtOnceAndRunGoesOnWhenThatIsMended(t *testing.T) {
	var letters atomic.Int32
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		letters.Add(1)
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(shop.Close)
	host := shop.Listener.Addr().String()
	tool := func(path, headers string) string {
		return `{"type": "object", "properties": {},
			"_activity": {"http": {"url": "` + shop.URL + path + `"` + headers + `}}}`
	}
	idea := `{%s "schema": {"tools": {"letter": ` + tool("/letter", "") + `,
		"pay": ` + tool("/pay", `, "headers": {"X": "$env:SHOP_TOKEN"}`) + `}},
		"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "letter"}, {"_tool": "pay"}]}]}`
	d := newDesk(t, map[string]string{"shop.json": fmt.Sprintf(idea, ""),
		"files.json": fmt.Sprintf(idea, `"config": {"mcp": {"files": {"command": ["mcp-files", "/data"]}}},`),
		"llm.json": `{"config": {"llm": {"server": "berlin"}}, "schema": {"output": {"type": "string"},
			"tools": {"letter": ` + tool("/letter", "") + `}},
			"context": [{"type": "plan", "stage": "optimal", "plan": [{"_tool": "letter"}]}]}`})
	lacks := []string{"PROCESSIDEA_HTTP_ALLOW must list " + host,
		"PROCESSIDEA_TOOL_SECRETS must list SHOP_TOKEN@" + host}
	for file, more := range map[string]string{"shop": "starter resume shop",
		"files": "PROCESSIDEA_MCP_COMMANDS must list mcp-files /data"} {
		e := d.do("run", file+".json", "--id", file, noUI).is(exit.Paused)
		for _, want := range append(lacks, more, "; in all, ",
			"run "+file+".json --id "+file+" "+noUI+" --resume") {
			if !strings.Contains(e.err, want) {
				t.Errorf("%s does not say %q: %s", file, want, e.err)
			}
		}
	}
	d.set("OPENAI_BASE_URL="+shop.URL, "PROCESSIDEA_HTTP_ALLOW="+host)
	e := d.do("run", "llm.json", "--id", "llm", noUI).is(exit.Paused)
	if want := `knows no LLM server "berlin": its OPENAI_SERVERS does not name it`; !strings.Contains(e.err, want) {
		t.Errorf("it does not say %q: %s", want, e.err)
	}
	if n := letters.Load(); n != 0 {
		t.Errorf("%d Calls ran before", n)
	}
	d.set("PROCESSIDEA_HTTP_ALLOW="+host, "SHOP_TOKEN=secret-of-the-shop", "PROCESSIDEA_TOOL_SECRETS=SHOP_TOKEN@"+host)
	d.do("run", "shop.json", "--id", "shop", noUI).is(exit.Paused)
	d.do("run", "shop.json", "--id", "shop", noUI, "--resume").is(exit.Done)
	d.do("run", "shop.json", "--id", "shop", noUI, "--resume").is(exit.Done)
	if n := letters.Load(); n != 2 {
		t.Errorf("%d Calls ran", n)
	}
	if e := d.do("check", "files.json").is(exit.Done); !strings.Contains(e.out, lacks[0]) ||
		!strings.Contains(e.out, lacks[1]) {
		t.Error(e.out)
	}
}
