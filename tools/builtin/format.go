package builtin

import (
	"context"
	"fmt"
	"strings"

	"processidea/model/ideafile/placeholder"
	"processidea/tools"
	"processidea/tools/memory"
)

type formatTextParams struct {
	Template string         `json:"template" jsonschema:"The text, with {name} or {path.to.value} where a value goes; {{name}} is a literal {name}."`
	Values   map[string]any `json:"values" jsonschema:"The values, by name."`
}

func formatText(ctx context.Context, in formatTextParams) (string, error) {
	var out strings.Builder
	accountedBytes := memory.MaxUncountedBytes // bytes of text that are accounted for so far
	for _, part := range placeholder.Split(in.Template) {
		if part.PlaceholderName == "" {
			out.WriteString(part.Text)
			continue
		}
		v, ok := placeholder.FindValue(in.Values, part.PlaceholderName)
		if !ok {
			return "", tools.Final(fmt.Errorf("the values have no %q", part.PlaceholderName))
		}
		text := placeholder.FormatValue(v)
		if out.Len()+len(text) > maxResultBytes {
			return "", tools.Final(errResultTooLarge)
		}
		if out.Len()+len(text) > accountedBytes {
			if err := memory.Reserve(ctx, maxResultBytes); err != nil {
				return "", err
			}
			accountedBytes = maxResultBytes
		}
		out.WriteString(text)
	}
	return out.String(), nil
}
