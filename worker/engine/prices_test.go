package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPricesAreReadFromAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"small*": {"input": 0.25, "output": 2}}`)
	list, err := pricesFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := list.Find("small-2026"); !ok || m.Cost(1_000_000, 0, 0).String() != "$0.25" {
		t.Errorf("found %v %v", m, ok)
	}
	if list, err := pricesFromFile(""); list != nil || err != nil {
		t.Errorf("without a file: %v, %v", list, err)
	}
	for text, want := range map[string]string{
		"nothing":                     file + ": ",
		`{"small": {"input": 1}}`:     "$.small.output: want a price in US dollars",
		`{"small": {"input": "two"}}`: "$.small.input: want a price in US dollars",
	} {
		write(text)
		if _, err := pricesFromFile(file); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), PricesVariable) {
			t.Errorf("%s: %v, want an error that says %q", text, err, want)
		}
	}
	if _, err := pricesFromFile(file + "-away"); err == nil || !strings.Contains(err.Error(), PricesVariable) {
		t.Errorf("a file that is away: %v", err)
	}
}
