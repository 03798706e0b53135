package turn_test

import (
	"strings"
	"testing"
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestADecisionIsReadKeyByKey(t *testing.T) {
	t.Parallel()
	const texts = `"call":"1.2@①","digest":"ab","by":"ann","reason":"fine","proof":"e30.e30.s","id":"7"`
	for kind, own := range map[string]string{
		ideafile.Approve: ``,
		ideafile.Reject:  ``,
		ideafile.Amend:   `,"params":{"n":5,"list":["†state.a"]}`,
		ideafile.Replace: `,"with":{"_tool":"do","x":"†state.a"}`,
		ideafile.Answer:  `,"output":[1,null]`,
	} {
		d, err := turn.ReadDecision(kind, modeltest.MustDecodeJSON(`{`+texts+own+`}`).(map[string]any))
		if err != nil {
			t.Errorf("%s: %s", kind, err)
			continue
		}
		want := jsonval.DeepMerge(modeltest.MustDecodeJSON(`{`+texts+own+`}`), map[string]any{"decision": kind, "at": "0001-01-01T00:00:00Z"})
		if got := jsonval.Encode(jsonval.ToJSONValue(d)); string(got) != string(jsonval.Encode(want)) {
			t.Errorf("%s is read as %s, want %s", kind, got, jsonval.Encode(want))
		}
	}
}

func TestWhatADecisionLacksOrHasTooMuchOfIsNamed(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	for _, c := range []struct{ kind, payload, why string }{
		{ideafile.Approve, `{}`, `it names no Call: "call" is missing`},
		{ideafile.Approve, `{"call":""}`, `it names no Call: "call" is missing`},
		{ideafile.Approve, `{"call":null}`, `it names no Call: "call" is missing`},
		{ideafile.Approve, `{"call":7}`, `"call" is a string, not number`},
		{ideafile.Approve, `{"call":"1.1","digest":{}}`, `"digest" is a string, not object`},
		{ideafile.Approve, `{"call":"1.1","by":["ann"]}`, `"by" is a string, not array`},
		{ideafile.Approve, `{"call":"1.1","id":7}`, `"id" is a string, not number`},
		{ideafile.Approve, `{"call":"1.1","reason":true}`, `"reason" is a string, not boolean`},
		{ideafile.Approve, `{"call":"1.1","Reason":"x"}`, `unknown key "Reason"`},
		{ideafile.Approve, `{"call":"1.1","":"x"}`, `unknown key ""`},
		{ideafile.Approve, `{"call":"1.1","params":{}}`, `unknown key "params"`},
		{ideafile.Reject, `{"call":"1.1","reason":"x","output":1}`, `unknown key "output"`},
		{ideafile.Amend, `{"call":"1.1","with":{}}`, `unknown key "with"`},
		{ideafile.Answer, `{"call":"1.1","output":1,"params":{}}`, `unknown key "params"`},
		{ideafile.Reject, `{"call":"1.1"}`, `a rejection says why: "reason" is missing`},
		{ideafile.Reject, `{"call":"1.1","reason":" \n"}`, `a rejection says why: "reason" is missing`},
		{ideafile.Reject, `{"call":"1.1","reason":null}`, `a rejection says why: "reason" is missing`},
		{ideafile.Amend, `{"call":"1.1"}`, `amend wants "params"`},
		{ideafile.Amend, `{"call":"1.1","params":null}`, `"params" is an object, not null`},
		{ideafile.Amend, `{"call":"1.1","params":[]}`, `"params" is an object, not array`},
		{ideafile.Replace, `{"call":"1.1"}`, `replace wants "with"`},
		{ideafile.Replace, `{"call":"1.1","with":"do"}`, `"with" is an object, not string`},
		{ideafile.Answer, `{"call":"1.1"}`, `answer wants "output"`},
		{ideafile.Approve, `{"call":"1.1","by":"your name"}`, `"by" is still "your name", as it was shown: put your own there`},
		{ideafile.Approve, `{"call":"1.1","by":" your name\n"}`, "\"by\" is still \" your name\\n\", as it was shown: put your own there"},
		{ideafile.Reject, `{"call":"1.1","reason":"<why>"}`, `"reason" is still "<why>", as it was shown: put your own there`},
		{ideafile.Replace, `{"call":"1.1","with":{"_tool":"<name of a tool>"}}`, `"_tool" is still "<name of a tool>", as it was shown: put your own there`},
		{ideafile.Answer, `{"call":"1.1","output":"<the result>"}`, `"output" is still "<the result>", as it was shown: put your own there`},
		{ideafile.Approve, `{"call":"1.1","by":"your namesake"}`, ``},
		{ideafile.Approve, `{"call":` + long(201) + `}`, `"call" is longer than 200 characters`},
		{ideafile.Approve, `{"call":"1.1","by":` + long(201) + `}`, `"by" is longer than 200 characters`},
		{ideafile.Approve, `{"call":"1.1","id":` + long(201) + `}`, `"id" is longer than 200 characters`},
		{ideafile.Approve, `{"call":"1.1","digest":` + long(201) + `}`, `"digest" is longer than 200 characters`},
		{ideafile.Approve, `{"call":"1.1","reason":` + long(2001) + `}`, `"reason" is longer than 2000 characters`},
		{ideafile.Approve, `{"call":"1.1","proof":` + long(16001) + `}`, `"proof" is longer than 16000 characters`},
		{ideafile.Approve, `{"call":"1.1","proof":{}}`, `"proof" is a string, not object`},
		{ideafile.Approve, `{"call":` + long(200) + `,"by":` + long(200) + `,"reason":` + long(2000) + `}`, ``},
		{ideafile.Answer, `{"call":"1.1","output":null}`, ``},
		{ideafile.Approve, `{"call":"1.1","by":null,"digest":null,"reason":null,"id":null}`, ``},
	} {
		_, err := turn.ReadDecision(c.kind, modeltest.MustDecodeJSON(c.payload).(map[string]any))
		if got := modeltest.ErrorText(err); got != c.why {
			t.Errorf("%s %s: got %q, want %q", c.kind, jsonval.Clip(c.payload, 60), got, c.why)
		}
	}
}

func TestAValueOfAPersonIsAtMost64KB(t *testing.T) {
	t.Parallel()
	const around = len(`{"x":""}`)
	for kind, key := range map[string]string{ideafile.Amend: "params", ideafile.Replace: "with", ideafile.Answer: "output"} {
		for _, c := range []struct {
			bytes int
			why   string
		}{{jsonval.LargeValueBytes, ""}, {jsonval.LargeValueBytes + 1, `"` + key + `" is larger than 64 KB`}} {
			_, err := turn.ReadDecision(kind, map[string]any{"call": "1.1", key: map[string]any{"x": strings.Repeat("x", c.bytes-around)}})
			if got := modeltest.ErrorText(err); got != c.why {
				t.Errorf("%s with %d bytes: got %q, want %q", kind, c.bytes, got, c.why)
			}
		}
	}
}

func TestWhatLooksLikeAHandleInADecisionIsData(t *testing.T) {
	t.Parallel()
	forged := map[string]any{jsonval.BlobHandleKey: map[string]any{"digest": "ab", "size": "1", "type": "string"}}
	for kind, key := range map[string]string{ideafile.Amend: "params", ideafile.Replace: "with", ideafile.Answer: "output"} {
		d, err := turn.ReadDecision(kind, map[string]any{"call": "1.1", key: map[string]any{"x": []any{forged}}})
		if err != nil {
			t.Fatalf("%s: %s", kind, err)
		}
		v := map[string]any{ideafile.Amend: d.AmendedParams, ideafile.Replace: d.Replacement, ideafile.Answer: d.GivenResult}[kind]
		if jsonval.ContainsBlobHandle(v) || string(jsonval.Encode(v)) != `{"x":[{"††blob":{"digest":"ab","size":"1","type":"string"}}]}` {
			t.Errorf("%s holds %s", kind, jsonval.Encode(v))
		}
	}
	d, err := turn.ReadDecision(ideafile.Answer, map[string]any{"call": "1.1", "output": forged})
	if err != nil || jsonval.ContainsBlobHandle(d.GivenResult) {
		t.Errorf("the answer is %s, %v", jsonval.Encode(d.GivenResult), err)
	}
}

func TestSteeringIsReadKeyByKey(t *testing.T) {
	t.Parallel()
	const texts = `"id":"7","by":"ann","reason":"why"`
	for _, c := range []struct{ kind, own, context string }{
		{turn.SteerPause, ``, `null`},
		{turn.SteerResume, ``, `null`},
		{turn.SteerResume, `,"limits":{"requests":2,"tokens":3,"calls":4,"duration":"5m"}`, `null`},
		{turn.SteerRevise, `,"limits":{"requests":2,"tokens":3,"calls":4,"duration":"5m"}`, `null`},
		{turn.SteerRevise, `,"context":[{"type":"text"}]`, `[{"type":"text"}]`},
		{turn.SteerAdd, `,"context":["as written"]`, `["as written"]`},
	} {
		s, err := turn.ReadSteering(c.kind, modeltest.MustDecodeJSON(`{`+texts+c.own+`}`).(map[string]any))
		if err != nil || s.ID != "7" || s.By != "ann" || s.Reason != "why" || string(jsonval.Encode(s.Context)) != string(jsonval.Encode(modeltest.MustDecodeJSON(c.context))) && c.context != "null" {
			t.Errorf("%s %s: %+v, %v", c.kind, c.own, s, err)
		}
		if want := (ideafile.Limits{Requests: 2, Tokens: 3, Calls: 4, Duration: 5 * time.Minute}); strings.Contains(c.own, "limits") != (s.Limits == want) {
			t.Errorf("%s %s: the limits are %+v", c.kind, c.own, s.Limits)
		}
	}
}

func TestWhatSteeringLacksOrHasTooMuchOfIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, payload, why string }{
		{turn.SteerPause, `{}`, ``},
		{turn.SteerPause, `{"call":"1.1"}`, `unknown key "call"`},
		{turn.SteerPause, `{"limits":{}}`, `unknown key "limits"`},
		{turn.SteerPause, `{"context":[]}`, `unknown key "context"`},
		{turn.SteerPause, `{"by":7}`, `"by" is a string, not number`},
		{turn.SteerPause, `{"by":"` + strings.Repeat("x", 201) + `"}`, `"by" is longer than 200 characters`},
		{turn.SteerPause, `{"reason":"` + strings.Repeat("x", 2001) + `"}`, `"reason" is longer than 2000 characters`},
		{turn.SteerResume, `{"limits":null}`, ``},
		{turn.SteerResume, `{"context":[]}`, `unknown key "context"`},
		{turn.SteerResume, `{"limits":7}`, `$.limits: want an object, not number`},
		{turn.SteerResume, `{"limits":{"apples":7}}`, `$.limits.apples: unknown limit "apples"; there are calls, duration, money, requests and tokens`},
		{turn.SteerRevise, `{}`, `it says nothing: "context" is missing`},
		{turn.SteerRevise, `{"context":[]}`, `it says nothing: "context" is missing`},
		{turn.SteerRevise, `{"limits":{}}`, `it says nothing: "context" is missing`},
		{turn.SteerRevise, `{"context":[],"limits":{"calls":1}}`, ``},
		{turn.SteerRevise, `{"context":{}}`, `$.context: want a list of messages, not object`},
		{turn.SteerAdd, `{}`, `it says nothing: "context" is missing`},
		{turn.SteerAdd, `{"context":null}`, `$.context: want a list of messages, not null`},
		{turn.SteerAdd, `{"context":[{}],"limits":{"calls":1}}`, `unknown key "limits"`},
	} {
		_, err := turn.ReadSteering(c.kind, modeltest.MustDecodeJSON(c.payload).(map[string]any))
		if got := modeltest.ErrorText(err); got != c.why {
			t.Errorf("%s %s: got %q, want %q", c.kind, jsonval.Clip(c.payload, 60), got, c.why)
		}
	}
}

func TestALimitOfZeroOrLessIsRefused(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{`"requests":0`, `"tokens":-1`, `"calls":1.5`, `"calls":"3"`, `"duration":"0s"`, `"duration":"-1m"`, `"duration":"soon"`} {
		key, _, _ := strings.Cut(strings.Trim(limit, `"`), `"`)
		_, err := turn.ReadSteering(turn.SteerResume, modeltest.MustDecodeJSON(`{"limits":{`+limit+`}}`).(map[string]any))
		if err == nil || !strings.HasPrefix(err.Error(), "$.limits."+key+": ") {
			t.Errorf("%s: %v", limit, err)
		}
	}
}

func TestADecisionIsToldAsAFact(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]turn.Decision{
		`approved by ann`:                            {Kind: ideafile.Approve, DecidedBy: "ann"},
		`approved by a person: looks right`:          {Kind: ideafile.Approve, Reason: "looks right"},
		`rejected by timeout: nobody decided`:        {Kind: ideafile.Reject, DecidedBy: turn.DecidedByTimeout, Reason: "nobody decided"},
		`amended by ann to run with {"n":5}: less`:   {Kind: ideafile.Amend, DecidedBy: "ann", Reason: "less", AmendedParams: map[string]any{"n": 5}},
		`amended by ann to run with {}`:              {Kind: ideafile.Amend, DecidedBy: "ann", AmendedParams: map[string]any{}},
		`replaced by ann with {"_tool":"do"}: safer`: {Kind: ideafile.Replace, DecidedBy: "ann", Reason: "safer", Replacement: map[string]any{"_tool": "do"}},
		`answered by ann`:                            {Kind: ideafile.Answer, DecidedBy: "ann", GivenResult: "the result stands in State"},
	} {
		if got := d.Describe(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAPersonIsNamedAsAnAuthor(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": "person", "ann": "person:ann", "timeout": "person:timeout"} {
		if got := turn.AuthorOfPerson(name); got != want {
			t.Errorf("%q is named %q, want %q", name, got, want)
		}
	}
}

func TestACallsIDNamesItsInstance(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "①", "a@b", "a/b", "@"} {
		if got := ideafile.InstanceTokenOfCallID(ideafile.FormatCallID(3, 2, token)); got != token {
			t.Errorf("%s is of %q, want %q", ideafile.FormatCallID(3, 2, token), got, token)
		}
	}
}
