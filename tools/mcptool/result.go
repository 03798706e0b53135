package mcptool

import (
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/model/jsonval"
)

// resultOf is a tool's result: its structured content, or else the JSON object or list in its text, or else its text. A
// result with more than text is a list of the protocol's content blocks.
func resultOf(r *mcp.CallToolResult) (any, error) {
	said, err := exactly(r.Meta)
	if err != nil {
		return nil, fmt.Errorf("the result cannot be read: %w", err)
	}
	if structured := said["structuredContent"]; structured != nil {
		return structured, nil
	}
	if text, ok := textOf(r.Content); ok {
		if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
			if v, err := jsonval.Decode([]byte(text)); err == nil {
				return v, nil
			}
		}
		return text, nil
	}
	return said["content"], nil
}

// textOf joins the blocks of text; ok is false where others are among them.
func textOf(content []mcp.Content) (text string, ok bool) {
	parts := make([]string, 0, len(content))
	for _, c := range content {
		t, ok := c.(*mcp.TextContent)
		if !ok {
			return "", false
		}
		parts = append(parts, t.Text)
	}
	return strings.Join(parts, "\n"), true
}

// errorText is the text of a failed tool.
func errorText(r *mcp.CallToolResult, value any) string {
	if text, ok := textOf(r.Content); ok && text != "" {
		return text
	}
	return jsonval.EncodeToString(value)
}
