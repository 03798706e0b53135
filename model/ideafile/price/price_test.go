package price

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

func TestAnAmountIsReadAndWrittenExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := Money(rapid.Int64Range(-9e17, 9e17).Draw(t, "amount"))
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back Money
		if err := json.Unmarshal(data, &back); err != nil || back != m {
			t.Errorf("%d, written as %s, is read as %d (%v)", m, data, back, err)
		}
		canonical := jsonval.Encode(jsonval.ToJSONValue(m)) // as an Idea holds it
		if err := json.Unmarshal(canonical, &back); err != nil || back != m {
			t.Errorf("%d, kept as %s, is read as %d (%v)", m, canonical, back, err)
		}
	})
}

func TestAnAmountIsShownWithTwoDigitsThatCount(t *testing.T) {
	t.Parallel()
	for m, want := range map[Money]string{
		0: "$0.00", Dollar: "$1.00", 12_345_000_000: "$12.35", 500_000_000: "$0.50", 12_300_000: "$0.012",
		1_249_000: "$0.0012", 1: "$0.000000001", 99_600_000: "$0.10",
	} {
		if got := m.String(); got != want {
			t.Errorf("%d is shown as %s, want %s", m, got, want)
		}
	}
}

func TestWhatIsNoAmountIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"x"`, `1e999999999`, `1e-999999999`, `0.0000000001`, `1.23456789012`, `null`, `[]`,
		`9e9999`, `99999999999`} {
		v, err := jsonval.Decode([]byte(text))
		if err != nil {
			continue
		}
		if m, err := ReadMoney(v); err == nil {
			t.Errorf("%s is read as %s", text, m)
		}
	}
	if _, err := ReadMoney(json.Number("0")); err == nil {
		t.Error("0 is above zero")
	}
}

func readList(t *testing.T, text string) (List, diag.Problems) {
	t.Helper()
	m, err := jsonval.DecodeObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var ps diag.Problems
	return Read(m, "$.prices", &ps), ps
}

func TestAnLLMIsFoundByItsNameOrTheLongestBeginning(t *testing.T) {
	t.Parallel()
	list, ps := readList(
		t,
		`{"a-1": {"input": 1, "output": 2}, "a-*": {"input": 3, "output": 4}, "a-1-mini*": {"input": 0, "cachedInput": 0, "output": 0.000000001}}`)
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	for name, want := range map[string]string{"a-1": "a-1", "a-1-2026": "a-*", "a-1-mini-2026": "a-1-mini*", "b": ""} {
		if found, ok := list.Find(name); found.LLMName != want || ok != (want != "") {
			t.Errorf("%s is priced as %q", name, found.LLMName)
		}
	}
	if found, ok := list.Find("", "unknown", "a-1"); !ok || found.LLMName != "a-1" {
		t.Errorf("the name that was asked for is not looked up: %+v", found)
	}
}

func TestWhatTokensCost(t *testing.T) {
	t.Parallel()
	list, _ := readList(
		t, `{"m": {"input": 0.25, "cachedInput": 0.025, "output": 2}, "plain": {"input": 1, "output": 1}}`)
	m, _ := list.Find("m")
	plain, _ := list.Find("plain")
	for _, c := range []struct {
		of                    LLMPrice
		input, cached, output int
		want                  string
	}{
		{m, 1000, 0, 0, "0.00025"}, {m, 1000, 1000, 0, "0.000025"}, {m, 1000, 400, 100, "0.00036"},
		{m, 10, 20, 0, "0.00000025"},
		{plain, 1000, 400, 0, "0.001"}, {m, 1_000_000, 0, 1_000_000, "2.25"},
	} {
		if got := string(jsonval.Encode(jsonval.ToJSONValue(c.of.Cost(c.input, c.cached, c.output)))); got != string(
			jsonval.Encode(json.Number(c.want))) {
			t.Errorf("%d (%d cached) and %d of %s cost %s, want %s", c.input, c.cached, c.output,
				c.of.LLMName, got, c.want)
		}
	}
}

func TestPricesThatAreNoneAreNamedWithTheirPlace(t *testing.T) {
	t.Parallel()
	_, ps := readList(
		t,
		`{"a": 1, "b": {"input": "x", "output": 1}, "c": {"input": 1, "output": 1, "in": 2}, "d": {"output": -1, "input": 1}}`)
	var places []string
	for _, p := range ps {
		places = append(places, p.JSONPath)
	}
	if got := string(
		jsonval.Encode(
			jsonval.ToJSONValue(
				places))); got != `["$.prices.a","$.prices.b.input","$.prices.c.in","$.prices.d.output"]` {
		t.Errorf("%s: %v", got, ps)
	}
}

func TestSharesAreTheWholeAndNearlyAlike(t *testing.T) {
	t.Parallel()
	for amount := range Money(50) {
		for among := 1; among < 9; among++ {
			shares, sum := amount.SplitEvenly(among), Money(0)
			for _, s := range shares {
				sum += s
			}
			if len(shares) != among || sum != amount || slices.Max(shares)-slices.Min(shares) > 1 {
				t.Errorf("%d among %d: %d", amount, among, shares)
			}
		}
	}
	if n := len(Money(7).SplitEvenly(0)); n != 0 {
		t.Errorf("among nobody: %d shares", n)
	}
}

func TestWhatARequestByBatchCosts(t *testing.T) {
	t.Parallel()
	var ps diag.Problems
	prices := Read(map[string]any{
		"half": map[string]any{"input": json.Number("1"), "output": json.Number("2"), "batch": json.Number("0.5")},
		"all":  map[string]any{"input": json.Number("1"), "output": json.Number("2")},
	}, "$", &ps)
	half, _ := prices.Find("half")
	all, _ := prices.Find("all")
	if cost := half.Cost(3, 0, 0).Times(half.BatchFactor); len(ps) > 0 || cost != 1500 {
		t.Errorf("%v %d", ps, cost)
	}
	if most := Money(1 << 62); most.Times(all.BatchFactor) != most || Money(1).Times(Dollar/2) != 1 ||
		Money(1).Times(Dollar/4) != 0 {
		t.Error("a part is not exact")
	}
	for _, batch := range []any{json.Number("1.5"), json.Number("-1"), "half"} {
		var ps diag.Problems
		Read(map[string]any{"m": map[string]any{"input": json.Number("1"), "output": json.Number("2"), "batch": batch}},
			"$", &ps)
		if len(ps) != 1 || !strings.Contains(ps[0].String(), "want a number from 0 to 1") {
			t.Errorf("%v: %v", batch, ps)
		}
	}
}
