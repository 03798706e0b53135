package activities

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonval"
	"processidea/tools/httptool"
	"processidea/tools/kinds"
	"processidea/tools/mcptool"
	"processidea/tools/mcptool/mcptest"
)

// No work of a workflow grows with what a server offers: it gets the handle of a large palette alone.
func TestWhatAServerOffersComesWholeOnlyWhereItIsSmall(t *testing.T) {
	t.Parallel()
	const description = "Adds two numbers."
	for others, want := range map[int]struct{ stored, offered bool }{0: {offered: true}, 100: {stored: true}} {
		s := mcptest.New(description, nil)
		for n := range others {
			s.AddTool(&mcp.Tool{
				Name: fmt.Sprintf("other-%d", n), Description: strings.Repeat("x", 1000),
				InputSchema: map[string]any{"type": "object"},
			},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
		}
		server := httptest.NewServer(mcptest.Handler(s))
		defer server.Close()
		a := newWorker(t, llm.Config{})
		a.MCP = mcptool.New(mcptool.Options{HTTP: httptool.New(httptool.Options{AllowList: "127.0.0.1"})})
		defer a.MCP.Close()
		idea, err := jsonval.DecodeObject([]byte(fmt.Sprintf(`{"config": {"mcp": {"calc": {"url": %q}}}}`, server.URL)))
		if err != nil {
			t.Fatal(err)
		}
		env := newEnvironment()
		env.RegisterActivity(a.DiscoverMCPTools)
		result, err := env.ExecuteActivity(a.DiscoverMCPTools, idea)
		if err != nil {
			t.Fatal(err)
		}
		var found mcppalette.PaletteAddition
		if err := result.Get(&found); err != nil || len(found.Problems) > 0 {
			t.Fatal(err, found)
		}
		if stored, offered := found.StoredPalette != nil, len(found.ToolSources) > 0; stored != want.stored ||
			offered != want.offered {
			t.Errorf("%d tools: stored %t, offered %t", others, stored, offered)
		}
		whole, err := a.readIdeaWithTools(t.Context(), found.AddToIdeaSource(idea))
		if err != nil || whole.Tool("calc_add") == nil || whole.Tool("calc_add").Description != description {
			t.Errorf("%d others: it is not in the palette: %v", others, err)
		}
		outline, problems := ideafile.ReadIdeaWithoutCheckingTools(found.AddToIdeaSource(idea))
		if len(problems.Errors()) > 0 || len(outline.MCPServersToAskForTools()) > 0 {
			t.Errorf("%d others: the server is asked again: %v", others, problems)
		}
	}
}

// A server that asks to be left alone holds the process up from its start, and what it said stays known at the end,
// whatever becomes of the later attempts.
func TestWhatAnMCPServerSaidBeforeItsLastAttemptIsKept(t *testing.T) {
	t.Parallel()
	busy := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		http.Error(w, "the plan allows ten a day", http.StatusTooManyRequests)
	})
	for name, row := range map[string]struct {
		url, before string
		told        int
		says        []string
	}{
		"it asks to be left alone": {busy.URL, "", 1, []string{"ten a day"}},
		"it is gone then": {"http://127.0.0.1:1", "the plan allows ten a day", 0,
			[]string{"connection refused", "the attempt before: the plan allows ten a day"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newWorker(t, llm.Config{})
			a.MCP = mcptool.New(mcptool.Options{HTTP: httptool.New(httptool.Options{AllowList: "127.0.0.1"})})
			t.Cleanup(func() { a.MCP.Close() })
			a.Runners = kinds.NewRunnerRegistry(kinds.Deps{MCP: a.MCP})
			env := newEnvironment()
			env.RegisterActivity(a.DiscoverMCPTools)
			if row.before != "" {
				env.SetHeartbeatDetails(row.before)
			}
			_, err := env.ExecuteActivity(a.DiscoverMCPTools, map[string]any{
				"config": map[string]any{"mcp": map[string]any{"calc": map[string]any{"url": row.url}}}})
			for _, text := range row.says {
				if err == nil || !strings.Contains(err.Error(), text) {
					t.Errorf("it does not say %q: %v", text, err)
				}
			}
			told := a.Client.(*ears).waits
			if len(told) != row.told || row.told > 0 && !strings.Contains(told[0].HoldUp.Message, "ten a day") {
				t.Errorf("told %+v", told)
			}
		})
	}
}
