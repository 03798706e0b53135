package ideafiles

import "processidea/model/ideafile"

// WithPayload returns a message with another payload, under the key of the message's type regardless of its original
// form.
func WithPayload(m ideafile.Message, payload any) map[string]any {
	out := map[string]any{}
	keptKeys := []string{"type", "kind", "_instance", "schema"}
	if m.PayloadKey() != "" {
		keptKeys = append(keptKeys, "title", "description", "_status", "_error")
	}
	for _, k := range keptKeys {
		if v, ok := m.Source[k]; ok {
			out[k] = v
		}
	}
	out[m.Type] = payload
	return out
}
