package approval_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func readMany(t *testing.T, payload string) approval.DecisionBatch {
	t.Helper()
	many, err := approval.ReadDecisionBatch(modeltest.MustDecodeJSON(payload).(map[string]any))
	if err != nil {
		t.Fatal(err)
	}
	return many
}

func TestEachOfManyDecisionsIsReadAsItsOwnSignalWould(t *testing.T) {
	t.Parallel()
	many := readMany(t, `{"id":"x","by":"ann","groups":["finance"],"reason":"all fine","proof":"e30.e30.s","decisions":[
		{"call":"1.1@①","digest":"ab","decision":"approve"},
		{"call":"1.1@②","decision":"reject","reason":"not this one","by":"bob","groups":["heads"],"id":"7","proof":"p"},
		{"call":"1.1@③","decision":"amend","params":{"n":1},"by":null},
		{"call":"1.1@④","decision":"answer","output":null},
		{"call":"1.1@⑤","decision":"amend"},
		{"call":"1.1@⑥","decision":"pause"},
		{"decision":"approve"},
		{"call":"1.1@⑦","decision":"approve","force":true},
		"1.1@⑧"]}`)
	for n, want := range []struct{ kind, payload, why string }{
		{"approve",
			`{"by":"ann","call":"1.1@①","digest":"ab","groups":["finance"],"id":"x/1","proof":"e30.e30.s","reason":"all fine"}`, ""},
		{"reject", `{"by":"bob","call":"1.1@②","groups":["heads"],"id":"7","proof":"p","reason":"not this one"}`, ""},
		{"amend",
			`{"by":"ann","call":"1.1@③","groups":["finance"],"id":"x/3","params":{"n":1},"proof":"e30.e30.s","reason":"all fine"}`, ""},
		{"answer",
			`{"by":"ann","call":"1.1@④","groups":["finance"],"id":"x/4","output":null,"proof":"e30.e30.s","reason":"all fine"}`, ""},
		{"amend", "", `decisions[4]: amend wants "params"`},
		{"decide", "", `decisions[5]: "decision" is one of approve, reject, amend, replace, answer`},
		{"approve", "", `decisions[6]: it names no Call: "call" is missing`},
		{"approve", "", `decisions[7]: unknown key "force"`},
		{"decide", "", `decisions[8] is an object, not string`},
	} {
		one := many.Decisions[n]
		if one.Kind != want.kind || modeltest.ErrorText(one.ReadErr) != want.why || want.payload != "" &&
			string(jsonval.Encode(one.Payload)) != want.payload {
			t.Errorf("%d: %s %s, %v", n, one.Kind, jsonval.Encode(one.Payload), one.ReadErr)
		}
	}
}

// A process in parts passes on to each what is for it.
func TestDecisionsThatArePassedOnStayWhatTheyWere(t *testing.T) {
	t.Parallel()
	many := readMany(t, `{"id":"x","by":"ann","reason":"all fine","decisions":[{"call":"1.1@①","decision":"approve"},{"call":"1.1@②","decision":"approve","by":"bob"},
		{"call":"1.1@③","decision":"answer","output":null}]}`)
	again, err := approval.ReadDecisionBatch(jsonval.ToJSONValue(many.PayloadToForward("forwarded",
		many.Decisions[1:])).(map[string]any))
	if err != nil || again.ID != "forwarded" || again.DecidedBy != "ann" || len(again.Decisions) != 2 {
		t.Fatalf("%+v, %v", again, err)
	}
	for n, one := range again.Decisions {
		if got, want := string(jsonval.Encode(one.Payload)),
			string(jsonval.Encode(many.Decisions[n+1].Payload)); got != want {
			t.Errorf("%s became %s", want, got)
		}
	}
}

func TestASignalOfManyDecisionsThatCannotBeReadIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	list := func(n int, one string) string {
		return `{"decisions":[` + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + `]}`
	}
	large := fmt.Sprintf(`{"call":"1.1","decision":"answer","output":%q}`, strings.Repeat("x", 60_000))
	for payload, why := range map[string]string{
		`{}`:                                     `it decides nothing: "decisions" is missing`,
		`{"decisions":[]}`:                       `it decides nothing: "decisions" is missing`,
		`{"decisions":{}}`:                       `"decisions" is a list, not object`,
		`{"decisions":["x"],"by":7}`:             `"by" is a string, not number`,
		`{"decisions":["x"],"groups":"finance"}`: `"groups" is a list of at most 100 names`,
		`{"decisions":["x"],"call":"1.1"}`:       `unknown key "call"`,
		`{"decisions":["x"],"by":"your name"}`:   `"by" is still the placeholder "your name": replace it by your own`,
		list(1000, `{"call":"1.1"}`):             "",
		list(
			1001,
			`{"call":"1.1"}`): "1001 decisions are too many for one signal, which takes 1000: send them in several",
		list(
			36, large): "the decisions are larger than 2 MB together: send them in several signals",
	} {
		_, err := approval.ReadDecisionBatch(modeltest.MustDecodeJSON(payload).(map[string]any))
		if got := modeltest.ErrorText(err); got != why {
			t.Errorf("%s: got %q, want %q", jsonval.Clip(payload, 60), got, why)
		}
	}
}
