package mcptool

import (
	"maps"
	"strings"

	"processidea/model/jsonval"
)

// parseResult returns the value of a server's result: its structured content, or else the JSON object or list in its
// text, or else its text. A result with more than text becomes the list of the protocol's content blocks. A result
// without content, as in the protocol's first version, becomes the object of its other members. For text that is JSON,
// firstFittingReading may choose the other reading. text is the error text of a failed tool.
func parseResult(resultFields jsonval.Object, firstFittingReading func(readings ...any) any) (value any, text string) {
	content := resultFields["content"]
	if block, ok := content.(jsonval.Object); ok {
		content = []any{block}
	}
	text, isText := joinText(content)
	switch structuredContent := resultFields["structuredContent"]; {
	case structuredContent != nil:
		value = structuredContent
	case !isText:
		value = content
	case content == nil:
		otherFields := maps.Clone(resultFields)
		for _, k := range []string{"content", "structuredContent", "isError", "_meta"} {
			delete(otherFields, k)
		}
		if value = ""; len(otherFields) > 0 {
			value = otherFields
		}
	default:
		value = text
		v, err := jsonval.Decode([]byte(text))
		if err == nil && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) {
			value = firstFittingReading(v, text)
		} else if err == nil {
			value = firstFittingReading(text, v)
		}
	}
	if text == "" {
		text = jsonval.EncodeToString(value)
	}
	return value, text
}

// joinText joins the text blocks; ok is false if there are other blocks.
func joinText(content any) (text string, ok bool) {
	if text, ok := content.(string); ok {
		return text, true
	}
	var parts []string
	for _, c := range jsonval.AsList(content) {
		block := jsonval.AsObject(c)
		text, ok := block["text"].(string)
		if !ok || block["type"] != "text" {
			return "", false
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n"), true
}
