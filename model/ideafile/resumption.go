package ideafile

import (
	"slices"
)

// InstanceEndStatus returns how an instance had ended in the process that a context comes from: the status of its last
// State message; "" if it had not ended.
func InstanceEndStatus(context []Message, token string) InstanceStatus {
	var last InstanceStatus
	for _, m := range context {
		if m.InstanceToken == token && m.PayloadKind == TypeState {
			last = m.InstanceEndStatus
		}
	}
	if !last.HasEnded() {
		return ""
	}
	return last
}

// AllInstancesEnded reports whether every instance had ended in the process that a context comes from.
func AllInstancesEnded(context []Message, tokens []string) bool {
	ended := map[string]bool{}
	for _, m := range context {
		if m.PayloadKind == TypeState {
			ended[m.InstanceToken] = m.InstanceEndStatus.HasEnded()
		}
	}
	return !slices.ContainsFunc(tokens, func(token string) bool { return !ended[token] })
}
