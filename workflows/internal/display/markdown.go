package display

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"processidea/model/jsonval"
)

const maxDetailsBytes = 16_000 // bytes; Temporal takes 20,000

// SetDetails shows Markdown as the workflow's current details.
func SetDetails(ctx workflow.Context, markdown string) {
	workflow.SetCurrentDetails(ctx, TruncateBytes(markdown, maxDetailsBytes))
}

// EscapeMarkdown keeps data from becoming Markdown.
func EscapeMarkdown(s string) string { return markdownEscapes.Replace(s) }

var markdownEscapes = strings.NewReplacer(
	"|", "\\|", "\n", " ", "`", "'", "<", "&lt;", "*", "\\*", "_", "\\_", "[", "\\[")

// TruncateBytes shortens a text to n bytes, for what Temporal limits in bytes.
func TruncateBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// truncateValue copies the beginning of a value, without looking at the rest: the value may be large, and a workflow
// task must be short.
func truncateValue(v any) any { return truncateToDepth(v, 3) }

func truncateToDepth(v any, depth int) any {
	const maxMembers, maxRunes = 12, 80
	if depth == 0 && (jsonval.AsObject(v) != nil || jsonval.TypeOf(v) == "array") {
		return "…"
	}
	switch v := v.(type) {
	case string:
		return jsonval.Clip(TruncateBytes(v, 4*maxRunes), maxRunes)
	case []any:
		out := make([]any, min(len(v), maxMembers))
		for n := range out {
			out[n] = truncateToDepth(v[n], depth-1)
		}
		return out
	case jsonval.Object:
		out := jsonval.Object{}
		for n, k := range jsonval.SortedKeys(v) {
			if n == maxMembers {
				break
			}
			out[k] = truncateToDepth(v[k], depth-1)
		}
		return out
	}
	return v
}

// fencedJSON shows JSON as a block of code that nothing in the JSON can end: a backtick is written as its JSON escape.
func fencedJSON(v any) string { return fencedJSONUpTo(v, maxFencedJSONBytes) }

func fencedJSONUpTo(v any, maxBytes int) string {
	var b bytes.Buffer
	err := json.Indent(&b, jsonval.Encode(jsonval.ToJSONValue(v)), "", "  ")
	if err != nil {
		return ""
	}
	text := strings.ReplaceAll(b.String(), "`", `\u0060`)
	return "```json\n" + TruncateBytes(text, maxBytes) + "\n```\n"
}

// inlineCodeList shows words as code, with commas between them.
func inlineCodeList(list []string) string { return "`" + strings.Join(list, "`, `") + "`" }

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
