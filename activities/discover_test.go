package activities

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonval"
	"processidea/tools/httptool"
	"processidea/tools/mcptool"
	"processidea/tools/mcptool/mcptest"
)

// No work of a workflow grows with what a server offers: it gets the handle of a large palette alone.
func TestWhatAServerOffersComesWholeOnlyWhereItIsSmall(t *testing.T) {
	t.Parallel()
	for description, want := range map[string]struct{ stored, offered bool }{
		"Adds two numbers.":                         {offered: true},
		strings.Repeat("Adds two numbers. ", 5_000): {stored: true},
	} {
		server := httptest.NewServer(mcptest.Handler(mcptest.New(description, nil)))
		defer server.Close()
		a := newWorker(t, llm.Config{})
		a.MCP = mcptool.New(mcptool.Options{HTTP: httptool.New(httptool.Options{Allow: "127.0.0.1"})})
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
		var found mcppalette.Palette
		if err := result.Get(&found); err != nil || len(found.Problems) > 0 {
			t.Fatal(err, found)
		}
		if stored, offered := found.StoredTools != nil, len(found.ToolSources) > 0; stored != want.stored || offered != want.offered {
			t.Errorf("%d bytes: stored %t, offered %t", len(description), stored, offered)
		}
		whole, err := a.readIdeaWithTools(t.Context(), found.AddToIdeaSource(idea))
		if err != nil || whole.Tool("calc_add") == nil || whole.Tool("calc_add").Description != description {
			t.Errorf("%d bytes: it is not in the palette: %v", len(description), err)
		}
		outline, problems := ideafile.ReadIdeaWithCheckedTools(found.AddToIdeaSource(idea))
		if len(problems.Errors()) > 0 || len(outline.MCPServersToAskForTools()) > 0 {
			t.Errorf("%d bytes: the server is asked again: %v", len(description), problems)
		}
	}
}
