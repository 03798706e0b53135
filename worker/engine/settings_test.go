package engine

import (
	"log/slog"
	"strings"
	"testing"

	"processidea/activities/notify"
	"processidea/model/ideafile/price"
	"processidea/store/blobs"
	"processidea/tools/httptool"
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
			if _, err := NewWorker(nil, Dependencies{Store: store}); err == nil ||
				!strings.Contains(err.Error(), name) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAWorkerSaysWhichSecretsAnyHostMayReceive(t *testing.T) {
	t.Parallel()
	for entries, names := range map[string]string{"SHOP@shop.example, A@*, CRM_*@*": "A, CRM_*",
		"SHOP@shop.example": ""} {
		var log strings.Builder
		Dependencies{Log: slog.New(slog.NewTextHandler(&log, nil)),
			Getenv: func(name string) string { return map[string]string{httptool.SecretsVariable: entries}[name] },
		}.logSettings()
		warns := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), `names="`+names+`"`)
		if warns != (names != "") || strings.Contains(log.String(), "SHOP") {
			t.Errorf("%s: %s", entries, &log)
		}
	}
}

func TestAWorkerSaysThatWithoutPricesADayCostsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		aDay   float64
		prices price.List
		warns  bool
	}{"no limit": {0, nil, false}, "no prices": {5, nil, true}, "prices": {5, price.List{{LLMName: "m"}}, false}} {
		var log strings.Builder
		Dependencies{Log: slog.New(slog.NewTextHandler(&log, nil)), DefaultPrices: c.prices,
			Limits: Limits{MaxDollarsPerDay: c.aDay}}.
			logSettings()
		if warns := strings.Contains(log.String(), PricesVariable); warns != c.warns {
			t.Errorf("%s: %s", name, &log)
		}
	}
}
