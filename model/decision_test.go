package model

import (
	"strings"
	"testing"
	"time"
)

func TestADecisionIsReadKeyByKey(t *testing.T) {
	const texts = `"call":"1.2@①","digest":"ab","by":"ann","reason":"fine","id":"7"`
	for kind, own := range map[string]string{
		Approve: ``,
		Reject:  ``,
		Amend:   `,"params":{"n":5,"list":["†state.a"]}`,
		Replace: `,"with":{"_tool":"do","x":"†state.a"}`,
		Answer:  `,"output":[1,null]`,
	} {
		d, err := ReadDecision(kind, mustDecode(`{`+texts+own+`}`).(map[string]any))
		if err != nil {
			t.Errorf("%s: %s", kind, err)
			continue
		}
		want := Merge(mustDecode(`{`+texts+own+`}`), map[string]any{"decision": kind, "at": "0001-01-01T00:00:00Z"})
		if got := Encode(Normal(d)); string(got) != string(Encode(want)) {
			t.Errorf("%s is read as %s, want %s", kind, got, Encode(want))
		}
	}
}

func TestWhatADecisionLacksOrHasTooMuchOfIsNamed(t *testing.T) {
	long := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	for _, c := range []struct{ kind, payload, why string }{
		{Approve, `{}`, `it names no Call: "call" is missing`},
		{Approve, `{"call":""}`, `it names no Call: "call" is missing`},
		{Approve, `{"call":null}`, `it names no Call: "call" is missing`},
		{Approve, `{"call":7}`, `"call" is a string, not number`},
		{Approve, `{"call":"1.1","digest":{}}`, `"digest" is a string, not object`},
		{Approve, `{"call":"1.1","by":["ann"]}`, `"by" is a string, not array`},
		{Approve, `{"call":"1.1","id":7}`, `"id" is a string, not number`},
		{Approve, `{"call":"1.1","reason":true}`, `"reason" is a string, not boolean`},
		{Approve, `{"call":"1.1","Reason":"x"}`, `unknown key "Reason"`},
		{Approve, `{"call":"1.1","":"x"}`, `unknown key ""`},
		{Approve, `{"call":"1.1","params":{}}`, `unknown key "params"`},
		{Reject, `{"call":"1.1","reason":"x","output":1}`, `unknown key "output"`},
		{Amend, `{"call":"1.1","with":{}}`, `unknown key "with"`},
		{Answer, `{"call":"1.1","output":1,"params":{}}`, `unknown key "params"`},
		{Reject, `{"call":"1.1"}`, `a rejection says why: "reason" is missing`},
		{Reject, `{"call":"1.1","reason":" \n"}`, `a rejection says why: "reason" is missing`},
		{Reject, `{"call":"1.1","reason":null}`, `a rejection says why: "reason" is missing`},
		{Amend, `{"call":"1.1"}`, `amend wants "params"`},
		{Amend, `{"call":"1.1","params":null}`, `"params" is an object, not null`},
		{Amend, `{"call":"1.1","params":[]}`, `"params" is an object, not array`},
		{Replace, `{"call":"1.1"}`, `replace wants "with"`},
		{Replace, `{"call":"1.1","with":"do"}`, `"with" is an object, not string`},
		{Answer, `{"call":"1.1"}`, `answer wants "output"`},
		{Approve, `{"call":` + long(201) + `}`, `"call" is longer than 200 characters`},
		{Approve, `{"call":"1.1","by":` + long(201) + `}`, `"by" is longer than 200 characters`},
		{Approve, `{"call":"1.1","id":` + long(201) + `}`, `"id" is longer than 200 characters`},
		{Approve, `{"call":"1.1","digest":` + long(201) + `}`, `"digest" is longer than 200 characters`},
		{Approve, `{"call":"1.1","reason":` + long(2001) + `}`, `"reason" is longer than 2000 characters`},
		{Approve, `{"call":` + long(200) + `,"by":` + long(200) + `,"reason":` + long(2000) + `}`, ``},
		{Answer, `{"call":"1.1","output":null}`, ``},
		{Approve, `{"call":"1.1","by":null,"digest":null,"reason":null,"id":null}`, ``},
	} {
		_, err := ReadDecision(c.kind, mustDecode(c.payload).(map[string]any))
		if got := errorText(err); got != c.why {
			t.Errorf("%s %s: got %q, want %q", c.kind, Clip(c.payload, 60), got, c.why)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAValueOfAPersonIsAtMost64KB(t *testing.T) {
	const around = len(`{"x":""}`)
	for kind, key := range map[string]string{Amend: "params", Replace: "with", Answer: "output"} {
		for _, c := range []struct {
			bytes int
			why   string
		}{{LargeValue, ""}, {LargeValue + 1, `"` + key + `" is larger than 64 KB`}} {
			_, err := ReadDecision(kind, map[string]any{"call": "1.1", key: map[string]any{"x": strings.Repeat("x", c.bytes-around)}})
			if got := errorText(err); got != c.why {
				t.Errorf("%s with %d bytes: got %q, want %q", kind, c.bytes, got, c.why)
			}
		}
	}
}

func TestWhatLooksLikeAHandleInADecisionIsData(t *testing.T) {
	forged := map[string]any{handleKey: map[string]any{"digest": "ab", "size": "1", "type": "string"}}
	for kind, key := range map[string]string{Amend: "params", Replace: "with", Answer: "output"} {
		d, err := ReadDecision(kind, map[string]any{"call": "1.1", key: map[string]any{"x": []any{forged}}})
		if err != nil {
			t.Fatalf("%s: %s", kind, err)
		}
		v := map[string]any{Amend: d.Params, Replace: d.With, Answer: d.Output}[kind]
		if HasHandle(v) || string(Encode(v)) != `{"x":[{"††blob":{"digest":"ab","size":"1","type":"string"}}]}` {
			t.Errorf("%s holds %s", kind, Encode(v))
		}
	}
	d, err := ReadDecision(Answer, map[string]any{"call": "1.1", "output": forged})
	if err != nil || HasHandle(d.Output) {
		t.Errorf("the answer is %s, %v", Encode(d.Output), err)
	}
}

func TestSteeringIsReadKeyByKey(t *testing.T) {
	const texts = `"id":"7","by":"ann","reason":"why"`
	for _, c := range []struct{ kind, own, context string }{
		{SteerPause, ``, `null`},
		{SteerResume, ``, `null`},
		{SteerResume, `,"limits":{"requests":2,"tokens":3,"calls":4,"duration":"5m"}`, `null`},
		{SteerRevise, `,"limits":{"requests":2,"tokens":3,"calls":4,"duration":"5m"}`, `null`},
		{SteerRevise, `,"context":[{"type":"text"}]`, `[{"type":"text"}]`},
		{SteerAdd, `,"context":["as written"]`, `["as written"]`},
	} {
		s, err := ReadSteering(c.kind, mustDecode(`{`+texts+c.own+`}`).(map[string]any))
		if err != nil || s.ID != "7" || s.By != "ann" || s.Reason != "why" || string(Encode(s.Context)) != string(Encode(mustDecode(c.context))) && c.context != "null" {
			t.Errorf("%s %s: %+v, %v", c.kind, c.own, s, err)
		}
		if want := (Limits{Requests: 2, Tokens: 3, Calls: 4, Duration: 5 * time.Minute}); strings.Contains(c.own, "limits") != (s.Limits == want) {
			t.Errorf("%s %s: the limits are %+v", c.kind, c.own, s.Limits)
		}
	}
}

func TestWhatSteeringLacksOrHasTooMuchOfIsNamed(t *testing.T) {
	for _, c := range []struct{ kind, payload, why string }{
		{SteerPause, `{}`, ``},
		{SteerPause, `{"call":"1.1"}`, `unknown key "call"`},
		{SteerPause, `{"limits":{}}`, `unknown key "limits"`},
		{SteerPause, `{"context":[]}`, `unknown key "context"`},
		{SteerPause, `{"by":7}`, `"by" is a string, not number`},
		{SteerPause, `{"by":"` + strings.Repeat("x", 201) + `"}`, `"by" is longer than 200 characters`},
		{SteerPause, `{"reason":"` + strings.Repeat("x", 2001) + `"}`, `"reason" is longer than 2000 characters`},
		{SteerResume, `{"limits":null}`, ``},
		{SteerResume, `{"context":[]}`, `unknown key "context"`},
		{SteerResume, `{"limits":7}`, `$.limits: want an object, not number`},
		{SteerResume, `{"limits":{"money":7}}`, `$.limits.money: unknown limit "money"; there are calls, duration, requests and tokens`},
		{SteerRevise, `{}`, `it says nothing: "context" is missing`},
		{SteerRevise, `{"context":[]}`, `it says nothing: "context" is missing`},
		{SteerRevise, `{"limits":{}}`, `it says nothing: "context" is missing`},
		{SteerRevise, `{"context":[],"limits":{"calls":1}}`, ``},
		{SteerRevise, `{"context":{}}`, `$.context: want a list of messages, not object`},
		{SteerAdd, `{}`, `it says nothing: "context" is missing`},
		{SteerAdd, `{"context":null}`, `$.context: want a list of messages, not null`},
		{SteerAdd, `{"context":[{}],"limits":{"calls":1}}`, `unknown key "limits"`},
	} {
		_, err := ReadSteering(c.kind, mustDecode(c.payload).(map[string]any))
		if got := errorText(err); got != c.why {
			t.Errorf("%s %s: got %q, want %q", c.kind, Clip(c.payload, 60), got, c.why)
		}
	}
}

func TestALimitOfZeroOrLessIsRefused(t *testing.T) {
	for _, limit := range []string{`"requests":0`, `"tokens":-1`, `"calls":1.5`, `"calls":"3"`, `"duration":"0s"`, `"duration":"-1m"`, `"duration":"soon"`} {
		key, _, _ := strings.Cut(strings.Trim(limit, `"`), `"`)
		_, err := ReadSteering(SteerResume, mustDecode(`{"limits":{`+limit+`}}`).(map[string]any))
		if err == nil || !strings.HasPrefix(err.Error(), "$.limits."+key+": ") {
			t.Errorf("%s: %v", limit, err)
		}
	}
}

func TestADecisionIsToldAsAFact(t *testing.T) {
	for want, d := range map[string]Decision{
		`approved by ann`:                            {Decision: Approve, By: "ann"},
		`approved by a person: looks right`:          {Decision: Approve, Reason: "looks right"},
		`rejected by timeout: nobody decided`:        {Decision: Reject, By: byTimeout, Reason: "nobody decided"},
		`amended by ann to run with {"n":5}: less`:   {Decision: Amend, By: "ann", Reason: "less", Params: map[string]any{"n": 5}},
		`amended by ann to run with {}`:              {Decision: Amend, By: "ann", Params: map[string]any{}},
		`replaced by ann with {"_tool":"do"}: safer`: {Decision: Replace, By: "ann", Reason: "safer", With: map[string]any{"_tool": "do"}},
		`answered by ann`:                            {Decision: Answer, By: "ann", Output: "the result stands in State"},
	} {
		if got := d.Fact(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAPersonIsNamedAsAnAuthor(t *testing.T) {
	for name, want := range map[string]string{"": "person", "ann": "person:ann", "timeout": "person:timeout"} {
		if got := Person(name); got != want {
			t.Errorf("%q is named %q, want %q", name, got, want)
		}
	}
}

func TestACallsIDNamesItsInstance(t *testing.T) {
	for _, token := range []string{"", "①", "a@b", "a/b", "@"} {
		if got := TokenOf(CallID(3, 2, token)); got != token {
			t.Errorf("%s is of %q, want %q", CallID(3, 2, token), got, token)
		}
	}
}
