// Package mcptest is an MCP server for tests, made with the official SDK. It serves over HTTP, or as a program of its
// own, which is the test binary itself.
package mcptest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServerVariable is the environment variable that makes a test binary the server, over standard input and output; its
// value is the description of the tool add.
const ServerVariable = "PROCESSIDEA_TEST_AS_MCP"

// ServerArgument makes the test binary the server if the environment cannot be set.
const ServerArgument = "as-mcp-server"

// RunIfServer runs the server and does not return, if this process was started as the server; otherwise it does
// nothing. A test package that uses it must call it before anything else.
func RunIfServer() {
	if len(os.Args) < 2 || os.Args[1] != ServerArgument {
		return
	}
	fmt.Fprintln(os.Stderr, "ready with", os.Getenv("TOKEN"))
	if os.Getenv("BROKEN") != "" {
		os.Exit(3)
	}
	if banner := os.Getenv("BANNER"); banner != "" {
		fmt.Print(banner)
	}
	if os.Getenv("HANGS") != "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	if oddAnswerText := os.Getenv("ODD"); oddAnswerText != "" {
		serveOddAnswers(oddAnswerText)
		os.Exit(0)
	}
	description := "Adds two numbers."
	if len(os.Args) > 2 {
		description = os.Args[2]
	}
	if err := New(description, nil).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// serveOddAnswers is a server with two tools. It answers a call of odd with the given text, in which ID is replaced by
// the id of the call. It answers a call of look only once odd has been called.
func serveOddAnswers(answerText string) {
	var waitingID json.RawMessage
	var isOddCalled bool
	for requestScanner := bufio.NewScanner(os.Stdin); requestScanner.Scan(); {
		var request struct {
			ID     json.RawMessage       `json:"id"`
			Method string                `json:"method"`
			Params struct{ Name string } `json:"params"`
		}
		_ = json.Unmarshal(requestScanner.Bytes(), &request)
		reply := func(id json.RawMessage, result string) {
			fmt.Printf(`{"jsonrpc": "2.0", "id": %s, "result": %s}`+"\n", id, result)
		}
		switch {
		case request.ID == nil:
		case request.Method == "initialize":
			reply(request.ID, strings.ReplaceAll(OddInitializedJSON, "\n", ""))
		case request.Method == "tools/list":
			reply(request.ID, strings.ReplaceAll(OddToolsJSON, "\n", ""))
		case request.Params.Name == "look":
			waitingID = request.ID
		case request.Params.Name == "odd":
			isOddCalled = true
			fmt.Println(strings.ReplaceAll(answerText, "ID", string(request.ID)))
		default:
			fmt.Printf(`{"jsonrpc": "2.0", "id": %s, "error": {"code": -32601, "message": "unknown"}}`+"\n", request.ID)
		}
		if isOddCalled && waitingID != nil {
			reply(waitingID, `{"content": [{"type": "text", "text": "done"}]}`)
			waitingID = nil
		}
	}
}

// The answers of a server whose two tools are named "look" and "odd".
const (
	OddToolsJSON = `{"tools": [{"name": "look", "inputSchema": {"type": "object"}},
		{"name": "odd", "inputSchema": {"type": "object"}}]}`
	OddInitializedJSON = `{"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
		"serverInfo": {"name": "plain", "version": "1"}}`
)

// Handler serves a server made by New over HTTP.
func Handler(s *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
}

// StatelessHandler serves a server without sessions. The SDK then speaks the current protocol, in which a tool's
// question is an answer to the call.
func StatelessHandler(s *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true})
}

// Sum is the result of the tool add.
type Sum struct {
	Sum int `json:"sum"`
}

type additionParams struct {
	A int `json:"a"`
	B int `json:"b"`
}

type textParams struct {
	Text string `json:"text"`
}

// New makes the server. It counts the calls of the tools count and book in counted, if that is not nil.
func New(description string, callCount *atomic.Int32) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "mcptest", Version: "1"}, nil)
	readOnly := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	mcp.AddTool(s, &mcp.Tool{Name: "add", Description: description, Annotations: readOnly},
		func(_ context.Context, _ *mcp.CallToolRequest, in additionParams) (*mcp.CallToolResult, Sum, error) {
			return nil, Sum{in.A + in.B}, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Says what it was told."},
		func(_ context.Context, _ *mcp.CallToolRequest, in textParams) (*mcp.CallToolResult, any, error) {
			return textResult(in.Text), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "refuse", Description: "Fails."},
		func(_ context.Context, _ *mcp.CallToolRequest, in textParams) (*mcp.CallToolResult, any, error) {
			return nil, nil, errors.New("it is not allowed: " + in.Text)
		})
	countCall := func() {
		if callCount != nil {
			callCount.Add(1)
		}
	}
	addPlainTool := func(name, description string, answerCall func(*mcp.CallToolRequest) *mcp.CallToolResult) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: description},
			func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
				return answerCall(r), nil, nil
			})
	}
	addPlainTool("environment", "Lists its environment.", func(*mcp.CallToolRequest) *mcp.CallToolResult {
		return textResult(fmt.Sprint(os.Environ()))
	})
	addPlainTool("large", "Says very much.", func(*mcp.CallToolRequest) *mcp.CallToolResult {
		return textResult(strings.Repeat("0123456789abcdef", 1<<20+1<<17))
	})
	addPlainTool("die", "Ends the server.", func(*mcp.CallToolRequest) *mcp.CallToolResult {
		os.Exit(7)
		return nil
	})
	addPlainTool("count", "Counts its calls.", func(*mcp.CallToolRequest) *mcp.CallToolResult {
		countCall()
		return textResult("counted")
	})
	addPlainTool("book", "Books a table, after asking for how many.", func(r *mcp.CallToolRequest) *mcp.CallToolResult {
		countCall()
		return book(r)
	})
	addPlainTool("draw", "Draws a picture.", func(*mcp.CallToolRequest) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "a dot"}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte{1, 2, 3}},
		}}
	})
	return s
}

func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// book asks a person in the way of the current protocol. For clients of an older one, the SDK itself asks.
func book(r *mcp.CallToolRequest) *mcp.CallToolResult {
	if _, isAnswered := r.Params.InputResponses["people"]; isAnswered {
		return textResult("booked")
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"people": &mcp.ElicitParams{
		Message: "For how many people?",
		RequestedSchema: map[string]any{"type": "object",
			"properties": map[string]any{"people": map[string]any{"type": "integer"}},
			"required":   []string{"people"}},
	}}}
}
