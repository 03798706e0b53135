package ideafile

import (
	"slices"
)

// InstanceEndStatus returns how an instance had ended in the process that a context comes from: the status of its last
// State message; "" if it had not ended.
func InstanceEndStatus(context []Message, token string) InstanceStatus {
	var lastStatus InstanceStatus
	for _, m := range context {
		if m.InstanceToken == token && m.PayloadKind == TypeState {
			lastStatus = m.InstanceEndStatus
		}
	}
	if !lastStatus.HasEnded() {
		return ""
	}
	return lastStatus
}

// AllInstancesEnded reports whether every instance had ended in the process that a context comes from.
func AllInstancesEnded(context []Message, tokens []string) bool {
	isEnded := map[string]bool{}
	for _, m := range context {
		if m.PayloadKind == TypeState {
			isEnded[m.InstanceToken] = m.InstanceEndStatus.HasEnded()
		}
	}
	return !slices.ContainsFunc(tokens, func(token string) bool { return !isEnded[token] })
}
