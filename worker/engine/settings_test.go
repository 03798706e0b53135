package engine

import (
	"strings"
	"testing"

	"processidea/activities/notify"
	"processidea/store/blobs"
	"processidea/tools/mcptool"
)

func TestAWorkerIsNotMadeOfSettingsThatCannotBeMeant(t *testing.T) {
	store, err := blobs.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	for name, value := range map[string]string{mcptool.CommandsVariable: "npx server; *",
		notify.URLVariable: "hooks.example"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			if _, err := NewWorker(nil, Parts{Store: store}); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v", err)
			}
		})
	}
}
