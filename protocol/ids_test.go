package protocol_test

import (
	"strings"
	"testing"

	"processidea/protocol"
)

func TestKeysAndIDsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("株", 80)
	seen := map[string]bool{}
	for _, token := range []string{long + "1", long + "2", strings.Repeat("a", 100) + "1", strings.Repeat("a", 100) + "2"} {
		for _, id := range []string{protocol.InstanceID("p", token), protocol.IdempotencyKey(strings.Repeat("p", 120), token, "1.1@"+token)} {
			if seen[id] || len(id) > 255 || strings.Contains(strings.ReplaceAll(id, "~", "%AA"), "%~") {
				t.Errorf("%s for %s", id, token)
			}
			seen[id] = true
		}
	}
	id := strings.Repeat("p", 120)
	for range 10 {
		below := protocol.DelegateID(id, "12.34@"+long)
		instance := protocol.InstanceID(protocol.PartID(below, 10_000), long)
		if len(instance) > 255 || !strings.HasPrefix(below, strings.Repeat("p", 120)+"/") || seen[below] {
			t.Errorf("%d: %s", len(instance), instance)
		}
		if _, _, isInstance := protocol.ParseInstanceID(below); isInstance {
			t.Errorf("%s is taken for an instance", below)
		}
		seen[below], id = true, below
	}
}
