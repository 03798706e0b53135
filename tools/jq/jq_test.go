package jq_test

import (
	"encoding/json"
	"testing"
	"time"

	"processidea/model/jsonval"
	"processidea/tools/jq"
)

func TestNumbersKeepEveryDigit(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		".id": "9007199254740993", ".id | floor": "9007199254740993", ".id | ceil": "9007199254740993",
		".id | round": "9007199254740993", ".id | trunc": "9007199254740993", ".big | floor": "123456789012345678901234",
		"-9007199254740993 | trunc": "-9007199254740993", ".id + 1 | floor": "9007199254740994",
		"1.5 | floor, ceil, round, trunc": "1", ".price | floor": "1", ".price": "1.10",
		"123456789012345678.91": "123456789012345678.91", "[0.12345678901234567890]": "[0.12345678901234567890]",
		"9007199254740993": "9007199254740993", "{a: 123456789012345678.91}.a": "123456789012345678.91",
		"0.1 + 123456789.12345678 > 123456789": "true",
	} {
		q, err := jq.Compile(query, jq.Limits{Timeout: time.Minute, MaxValueBytes: 1 << 20, MaxTotalBytes: 1 << 24})
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		got, err := q.Run(t.Context(), map[string]any{"id": json.Number("9007199254740993"), "price": json.Number("1.10"),
			"big": json.Number("123456789012345678901234")}, 1)
		if err != nil || len(got) != 1 || string(jsonval.Encode(got[0])) != want {
			t.Errorf("%s: %s, %v; want %s", query, jsonval.Encode(got), err, want)
		}
	}
	q, err := jq.Compile(`"x" | floor`, jq.Limits{Timeout: time.Minute, MaxValueBytes: 1 << 20, MaxTotalBytes: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := q.Run(t.Context(), nil, 1); err == nil {
		t.Errorf("a text is rounded to %v", got)
	}
}
