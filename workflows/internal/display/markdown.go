package display

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/jsonval"
)

const maxDetails = 16_000 // bytes; Temporal takes 20,000

// SetDetails shows Markdown as the workflow's current details.
func SetDetails(ctx workflow.Context, markdown string) {
	workflow.SetCurrentDetails(ctx, LimitBytes(markdown, maxDetails))
}

// Text keeps data from becoming Markdown.
func Text(s string) string { return escapes.Replace(s) }

var escapes = strings.NewReplacer("|", "\\|", "\n", " ", "`", "'", "<", "&lt;", "*", "\\*", "_", "\\_", "[", "\\[")

// LimitBytes shortens a text to n bytes, for what Temporal limits in bytes.
func LimitBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// fenced shows JSON as a block of code that nothing in the JSON can end: a backtick is written as its JSON escape.
func fenced(v any) string {
	var b bytes.Buffer
	err := json.Indent(&b, jsonval.Encode(jsonval.Normal(v)), "", "  ")
	if err != nil {
		return ""
	}
	text := strings.ReplaceAll(b.String(), "`", `\u0060`)
	return "```json\n" + LimitBytes(text, maxShown) + "\n```\n"
}

// inCode shows words as code, with commas between them.
func inCode(list []string) string { return "`" + strings.Join(list, "`, `") + "`" }

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
