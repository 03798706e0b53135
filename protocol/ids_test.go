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
	for _, token := range []string{long + "1", long + "2", strings.Repeat("a", 100) + "1",
		strings.Repeat("a", 100) + "2"} {
		for _, id := range []string{protocol.InstanceID("p", token),
			protocol.IdempotencyKey(strings.Repeat("p", 90), token, "1.1@"+token),
			protocol.UndoKey(strings.Repeat("p", 90), token, "1.1@"+token)} {
			if seen[id] || len(id) > 255 || strings.Contains(strings.ReplaceAll(id, "~", "%AA"), "%~") {
				t.Errorf("%s for %s", id, token)
			}
			seen[id] = true
		}
	}
	id := strings.Repeat("p", 90)
	for range 10 {
		below := protocol.DelegateID(id, "12.34@"+long)
		instance := protocol.InstanceID(protocol.PartID(below, 10_000), long)
		if len(instance) > 255 || !strings.HasPrefix(below, strings.Repeat("p", 90)+"/") || seen[below] {
			t.Errorf("%d: %s", len(instance), instance)
		}
		if _, _, isInstance := protocol.ParseInstanceID(below); isInstance {
			t.Errorf("%s is taken for an instance", below)
		}
		if !protocol.BelongsToInstance(below, long) {
			t.Errorf("%s is not known as one of its instance's", below)
		}
		seen[below], id = true, below
	}
}

func TestWhatBelongsToAnInstanceIsToldByItsWorkflowId(t *testing.T) {
	t.Parallel()
	for id, of := range map[string]string{
		"p": "", "p/~part/3": "", "p/main": "", "p/1": "①", "p/~part/3/bed-17": "bed-17", "p/bed-17": "bed-17",
		"p/~call/3.2@1": "①", "p/~part/3/~call/3.2@bed-17": "bed-17", "p/~call/3.2@bed-17/~call/1.1@1": "bed-17",
		"p/~call/3.2@bed-17/main": "bed-17", "p/~call/3.2": "",
	} {
		for _, token := range []string{"①", "bed-17"} {
			if got := protocol.BelongsToInstance(id, token); got != (token == of) {
				t.Errorf("%s belongs to %s: %t", id, token, got)
			}
		}
	}
	for id, is := range map[string]bool{
		"p": true, "p/~part/3": true, "p/1": false, "p/~call/3.2": false, "p/~part/3/1": false,
	} {
		if protocol.IsRootProcessOrPart(id) != is {
			t.Errorf("%s is a process that somebody started, or a part: %t", id, !is)
		}
	}
}
