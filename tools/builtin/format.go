package builtin

import (
	"context"
	"fmt"
	"strings"

	"processidea/tools"
	"processidea/tools/placeholder"
)

type formatTextParams struct {
	Template string         `json:"template" jsonschema:"The text, with {name} or {path.to.value} where a value goes; {{name}} is a literal {name}."`
	Values   map[string]any `json:"values" jsonschema:"The values, by name."`
}

func registerFormatText(r *tools.Registry) {
	tools.Register(r, "formatText", formatText, tools.Pure(),
		tools.Describe("Fills a text template: {name} and {path.to.value} are replaced by values; lists and objects read as JSON."))
}

func formatText(_ context.Context, in formatTextParams) (string, error) {
	var out strings.Builder
	for _, part := range placeholder.Split(in.Template) {
		if part.Name == "" {
			out.WriteString(part.Text)
			continue
		}
		v, ok := placeholder.Find(in.Values, part.Name)
		if !ok {
			return "", tools.Final(fmt.Errorf("the values have no %q", part.Name))
		}
		text, err := placeholder.Text(v)
		if err != nil {
			return "", tools.Final(fmt.Errorf("%q: %w", part.Name, err))
		}
		out.WriteString(text)
	}
	return out.String(), nil
}
