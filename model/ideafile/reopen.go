package ideafile

import (
	"fmt"

	"processidea/model/jsonval"
)

// ReopenKey marks a message of a person's correction that reopens the ended instance that it names. The key is no part
// of the message.
const ReopenKey = "reopen"

// ExtractTokensToReopen removes the ReopenKey from messages and returns the instances that they reopen, each once. It
// drops messages with no other content.
func ExtractTokensToReopen(context []any) (otherMessages []any, tokens []string, err error) {
	seen := map[string]bool{}
	for n, raw := range context {
		m := jsonval.AsObject(raw)
		v, isMarked := m[ReopenKey]
		if !isMarked {
			otherMessages = append(otherMessages, raw)
			continue
		}
		if v != true {
			return nil, nil,
				fmt.Errorf("$.context[%d].%s: want true, not %s; put a value of that name under the key of its kind",
					n, ReopenKey,
					jsonval.Clip(jsonval.EncodeToString(v), 40))
		}
		token := jsonval.AsText(m["_instance"])
		if !seen[token] {
			seen[token] = true
			tokens = append(tokens, token)
		}
		m = jsonval.WithoutKey(m, ReopenKey)
		if len(jsonval.WithoutKey(m, "type", "_instance")) > 0 {
			otherMessages = append(otherMessages, m)
		}
	}
	return otherMessages, tokens, nil
}

// ContextForRestartedInstance returns the messages with which a reopened instance is started anew: its part of a
// context, with its initial State in place of any other. Direct Plans are left out, because they do not run again.
func ContextForRestartedInstance(context []Message, token string, initialState any) (list []any) {
	for _, m := range context {
		switch {
		case m.PayloadKind == "" || (m.InstanceToken != "" && m.InstanceToken != token):
		case m.PayloadKind != TypeState:
			list = append(list, m.Source)
		case m.PayloadSchema != nil:
			m.Payload = jsonval.Object{}
			list = append(list, EncodePayloadMessage(m))
		}
	}
	return append(list, EncodePayloadMessage(Message{PayloadKind: TypeState, InstanceToken: token,
		Payload: initialState}))
}
