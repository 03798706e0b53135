package ideafile

import (
	"fmt"

	"processidea/model/diag"
)

// readAll reads messages that come from people.
func ReadAll(context []any) ([]Message, error) {
	var ps diag.Problems
	var list []Message
	for n, raw := range context {
		if m, ok := ReadMessage(raw, fmt.Sprintf("$.context[%d]", n), &ps); ok {
			list = append(list, m)
		}
	}
	if errs := ps.Errors(); len(errs) > 0 {
		return nil, errs
	}
	return list, nil
}
