package approval_test

import (
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestADecisionIsReadKeyByKey(t *testing.T) {
	t.Parallel()
	const texts = `"call":"1.2@①","digest":"ab","by":"ann","reason":"fine","proof":"e30.e30.s","id":"7"`
	for kind, own := range map[string]string{
		policy.Approve: ``,
		policy.Reject:  ``,
		policy.Amend:   `,"params":{"n":5,"list":["†state.a"]}`,
		policy.Replace: `,"with":{"_tool":"do","x":"†state.a"}`,
		policy.Answer:  `,"output":[1,null]`,
	} {
		d, err := approval.ReadDecision(kind, modeltest.MustDecodeJSON(`{`+texts+own+`}`).(map[string]any))
		if err != nil {
			t.Errorf("%s: %s", kind, err)
			continue
		}
		want := jsonval.DeepMerge(modeltest.MustDecodeJSON(`{`+texts+own+`}`),
			map[string]any{"decision": kind, "at": "0001-01-01T00:00:00Z"})
		if got := jsonval.Encode(jsonval.ToJSONValue(d)); string(got) != string(jsonval.Encode(want)) {
			t.Errorf("%s is read as %s, want %s", kind, got, jsonval.Encode(want))
		}
	}
}

func TestWhatADecisionLacksOrHasTooMuchOfIsNamed(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	for _, c := range []struct{ kind, payload, why string }{
		{policy.Approve, `{}`, `it names no Call: "call" is missing`},
		{policy.Approve, `{"call":""}`, `it names no Call: "call" is missing`},
		{policy.Approve, `{"call":null}`, `it names no Call: "call" is missing`},
		{policy.Approve, `{"call":7}`, `"call" is a string, not number`},
		{policy.Approve, `{"call":"1.1","digest":{}}`, `"digest" is a string, not object`},
		{policy.Approve, `{"call":"1.1","by":["ann"]}`, `"by" is a string, not array`},
		{policy.Approve, `{"call":"1.1","id":7}`, `"id" is a string, not number`},
		{policy.Approve, `{"call":"1.1","reason":true}`, `"reason" is a string, not boolean`},
		{policy.Approve, `{"call":"1.1","Reason":"x"}`, `unknown key "Reason"`},
		{policy.Approve, `{"call":"1.1","":"x"}`, `unknown key ""`},
		{policy.Approve, `{"call":"1.1","params":{}}`, `unknown key "params"`},
		{policy.Reject, `{"call":"1.1","reason":"x","output":1}`, `unknown key "output"`},
		{policy.Amend, `{"call":"1.1","with":{}}`, `unknown key "with"`},
		{policy.Answer, `{"call":"1.1","output":1,"params":{}}`, `unknown key "params"`},
		{policy.Reject, `{"call":"1.1"}`, `a rejection says why: "reason" is missing`},
		{policy.Reject, `{"call":"1.1","reason":" \n"}`, `a rejection says why: "reason" is missing`},
		{policy.Reject, `{"call":"1.1","reason":null}`, `a rejection says why: "reason" is missing`},
		{policy.Amend, `{"call":"1.1"}`, `amend wants "params"`},
		{policy.Amend, `{"call":"1.1","params":null}`, `"params" is an object, not null`},
		{policy.Amend, `{"call":"1.1","params":[]}`, `"params" is an object, not array`},
		{policy.Replace, `{"call":"1.1"}`, `replace wants "with"`},
		{policy.Replace, `{"call":"1.1","with":"do"}`, `"with" is an object, not string`},
		{policy.Answer, `{"call":"1.1"}`, `answer wants "output"`},
		{policy.Approve, `{"call":"1.1","by":"your name"}`,
			`"by" is still the placeholder "your name": replace it by your own`},
		{policy.Approve, `{"call":"1.1","by":" your name\n"}`,
			"\"by\" is still the placeholder \" your name\\n\": replace it by your own"},
		{policy.Reject, `{"call":"1.1","reason":"<why>"}`,
			`"reason" is still the placeholder "<why>": replace it by your own`},
		{policy.Replace, `{"call":"1.1","with":{"_tool":"<name of a tool>"}}`,
			`"_tool" is still the placeholder "<name of a tool>": replace it by your own`},
		{policy.Answer, `{"call":"1.1","output":"<the result>"}`,
			`"output" is still the placeholder "<the result>": replace it by your own`},
		{policy.Approve, `{"call":"1.1","by":"your namesake"}`, ``},
		{policy.Approve, `{"call":` + long(201) + `}`, `"call" is longer than 200 characters`},
		{policy.Approve, `{"call":"1.1","by":` + long(201) + `}`, `"by" is longer than 200 characters`},
		{policy.Approve, `{"call":"1.1","id":` + long(201) + `}`, `"id" is longer than 200 characters`},
		{policy.Approve, `{"call":"1.1","digest":` + long(201) + `}`, `"digest" is longer than 200 characters`},
		{policy.Approve, `{"call":"1.1","reason":` + long(2001) + `}`, `"reason" is longer than 2000 characters`},
		{policy.Approve, `{"call":"1.1","proof":` + long(16001) + `}`, `"proof" is longer than 16000 characters`},
		{policy.Approve, `{"call":"1.1","proof":{}}`, `"proof" is a string, not object`},
		{policy.Approve, `{"call":` + long(200) + `,"by":` + long(200) + `,"reason":` + long(2000) + `}`, ``},
		{policy.Answer, `{"call":"1.1","output":null}`, ``},
		{policy.Approve, `{"call":"1.1","by":null,"digest":null,"reason":null,"id":null}`, ``},
	} {
		_, err := approval.ReadDecision(c.kind, modeltest.MustDecodeJSON(c.payload).(map[string]any))
		if got := modeltest.ErrorText(err); got != c.why {
			t.Errorf("%s %s: got %q, want %q", c.kind, jsonval.Clip(c.payload, 60), got, c.why)
		}
	}
}

func TestAValueOfAPersonIsAtMost64KB(t *testing.T) {
	t.Parallel()
	const around = len(`{"x":""}`)
	for kind, key := range map[string]string{policy.Amend: "params", policy.Replace: "with", policy.Answer: "output"} {
		for _, c := range []struct {
			bytes int
			why   string
		}{{jsonval.LargeValueBytes, ""}, {jsonval.LargeValueBytes + 1, `"` + key + `" is larger than 64 KB`}} {
			_, err := approval.ReadDecision(kind,
				map[string]any{"call": "1.1", key: map[string]any{"x": strings.Repeat("x", c.bytes-around)}})
			if got := modeltest.ErrorText(err); got != c.why {
				t.Errorf("%s with %d bytes: got %q, want %q", kind, c.bytes, got, c.why)
			}
		}
	}
}

func TestWhatLooksLikeAHandleInADecisionIsData(t *testing.T) {
	t.Parallel()
	forged := map[string]any{jsonval.BlobHandleKey: map[string]any{"digest": "ab", "size": "1", "type": "string"}}
	for kind, key := range map[string]string{policy.Amend: "params", policy.Replace: "with", policy.Answer: "output"} {
		d, err := approval.ReadDecision(kind, map[string]any{"call": "1.1", key: map[string]any{"x": []any{forged}}})
		if err != nil {
			t.Fatalf("%s: %s", kind, err)
		}
		v := map[string]any{policy.Amend: d.AmendedParams, policy.Replace: d.Replacement,
			policy.Answer: d.AnswerResult}[kind]
		if jsonval.ContainsBlobHandle(v) ||
			string(jsonval.Encode(v)) != `{"x":[{"††blob":{"digest":"ab","size":"1","type":"string"}}]}` {
			t.Errorf("%s holds %s", kind, jsonval.Encode(v))
		}
	}
	d, err := approval.ReadDecision(policy.Answer, map[string]any{"call": "1.1", "output": forged})
	if err != nil || jsonval.ContainsBlobHandle(d.AnswerResult) {
		t.Errorf("the answer is %s, %v", jsonval.Encode(d.AnswerResult), err)
	}
}

func TestSteeringIsReadKeyByKey(t *testing.T) {
	t.Parallel()
	const texts = `"id":"7","by":"ann","reason":"why"`
	for _, c := range []struct{ kind, own, context string }{
		{approval.SteerPause, ``, `null`},
		{approval.SteerResume, ``, `null`},
		{approval.SteerResume, `,"limits":{"requests":2,"tokens":3,"calls":4,"duration":"5m"}`, `null`},
		{approval.SteerRevise, `,"limits":{"requests":2,"tokens":3,"calls":4,"duration":"5m"}`, `null`},
		{approval.SteerRevise, `,"context":[{"type":"text"}]`, `[{"type":"text"}]`},
		{approval.SteerAddInstances, `,"context":["as written"]`, `["as written"]`},
	} {
		s, err := approval.ReadSteering(c.kind, modeltest.MustDecodeJSON(`{`+texts+c.own+`}`).(map[string]any))
		if err != nil || s.ID != "7" || s.SentBy != "ann" || s.Reason != "why" ||
			string(jsonval.Encode(s.Context)) != string(jsonval.Encode(modeltest.MustDecodeJSON(c.context))) &&
				c.context != "null" {
			t.Errorf("%s %s: %+v, %v", c.kind, c.own, s, err)
		}
		if want := (ideafile.Limits{Requests: 2, Tokens: 3, Calls: 4, Duration: 5 * time.Minute}); strings.Contains(
			c.own, "limits") != (s.Limits == want) {
			t.Errorf("%s %s: the limits are %+v", c.kind, c.own, s.Limits)
		}
	}
}

func TestWhatSteeringLacksOrHasTooMuchOfIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, payload, why string }{
		{approval.SteerPause, `{}`, ``},
		{approval.SteerPause, `{"call":"1.1"}`, `unknown key "call"`},
		{approval.SteerPause, `{"limits":{}}`, `unknown key "limits"`},
		{approval.SteerPause, `{"context":[]}`, `unknown key "context"`},
		{approval.SteerPause, `{"by":7}`, `"by" is a string, not number`},
		{approval.SteerPause, `{"by":"` + strings.Repeat("x", 201) + `"}`, `"by" is longer than 200 characters`},
		{approval.SteerPause, `{"reason":"` + strings.Repeat("x", 2001) + `"}`,
			`"reason" is longer than 2000 characters`},
		{approval.SteerResume, `{"limits":null}`, ``},
		{approval.SteerResume, `{"context":[]}`, `unknown key "context"`},
		{approval.SteerResume, `{"limits":7}`, `$.limits: want an object, not number`},
		{approval.SteerResume, `{"limits":{"apples":7}}`,
			`$.limits.apples: unknown limit "apples"; there are calls, duration, money, requests and tokens`},
		{approval.SteerRevise, `{}`, `it says nothing: "context" is missing`},
		{approval.SteerRevise, `{"context":[]}`, `it says nothing: "context" is missing`},
		{approval.SteerRevise, `{"limits":{}}`, `it says nothing: "context" is missing`},
		{approval.SteerRevise, `{"context":[],"limits":{"calls":1}}`, ``},
		{approval.SteerRevise, `{"context":{}}`, `$.context: want a list of messages, not object`},
		{approval.SteerAddInstances, `{}`, `it says nothing: "context" is missing`},
		{approval.SteerAddInstances, `{"context":null}`, `$.context: want a list of messages, not null`},
		{approval.SteerAddInstances, `{"context":[{}],"limits":{"calls":1}}`, `unknown key "limits"`},
	} {
		_, err := approval.ReadSteering(c.kind, modeltest.MustDecodeJSON(c.payload).(map[string]any))
		if got := modeltest.ErrorText(err); got != c.why {
			t.Errorf("%s %s: got %q, want %q", c.kind, jsonval.Clip(c.payload, 60), got, c.why)
		}
	}
}

func TestALimitOfZeroOrLessIsRefused(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{`"requests":0`, `"tokens":-1`, `"calls":1.5`, `"calls":"3"`, `"duration":"0s"`,
		`"duration":"-1m"`, `"duration":"soon"`} {
		key, _, _ := strings.Cut(strings.Trim(limit, `"`), `"`)
		_, err := approval.ReadSteering(approval.SteerResume,
			modeltest.MustDecodeJSON(`{"limits":{`+limit+`}}`).(map[string]any))
		if err == nil || !strings.HasPrefix(err.Error(), "$.limits."+key+": ") {
			t.Errorf("%s: %v", limit, err)
		}
	}
}

func TestADecisionIsToldAsAFact(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]approval.Decision{
		`approved by ann`:                   {Kind: policy.Approve, DecidedBy: "ann"},
		`approved by a person: looks right`: {Kind: policy.Approve, Reason: "looks right"},
		`rejected by timeout: nobody decided`: {Kind: policy.Reject, DecidedBy: approval.DecidedByTimeout,
			Reason: "nobody decided"},
		`amended by ann to run with {"n":5}: less`: {Kind: policy.Amend, DecidedBy: "ann", Reason: "less",
			AmendedParams: map[string]any{"n": 5}},
		`amended by ann to run with {}`: {Kind: policy.Amend, DecidedBy: "ann",
			AmendedParams: map[string]any{}},
		`replaced by ann with {"_tool":"do"}: safer`: {Kind: policy.Replace, DecidedBy: "ann", Reason: "safer",
			Replacement: map[string]any{"_tool": "do"}},
		`answered by ann`: {Kind: policy.Answer, DecidedBy: "ann",
			AnswerResult: "the result stands in State"},
	} {
		if got := d.Describe(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAQuestionSaysWhetherTheLLMIsToldOfIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, flag, why string
		isForRequest    bool
	}{
		{approval.Ask, "", "", false}, {approval.Ask, `, "forRequest": true`, "", true},
		{approval.Ask, `, "forRequest": false`, "", false}, {approval.Ask, `, "forRequest": null`, "", false},
		{approval.Ask, `, "forRequest": "yes"`, `"forRequest" is true or false, not string`, false},
		{approval.Comment, `, "forRequest": true`, `unknown key "forRequest"`, false},
	} {
		d, err := approval.ReadDecision(c.kind, modeltest.MustDecodeJSON(
			`{"call": "1.1", "by": "ann", "reason": "late?"`+c.flag+`}`).(map[string]any))
		if got := modeltest.ErrorText(err); got != c.why || d.IsForRequest != c.isForRequest {
			t.Errorf("%s%s: %v, %q", c.kind, c.flag, d.IsForRequest, got)
		}
	}
	const warning = "the AI that plans the process is told"
	p := approval.PendingCall{Remarks: []approval.Decision{{Kind: approval.Ask, DecidedBy: "ann", IsForRequest: true}}}
	if got := strings.Join(p.Explanation(), "\n"); !strings.Contains(got, warning) {
		t.Errorf("whoever answers reads %s", got)
	}
	p.Remarks[0].IsForRequest = false
	if got := strings.Join(p.Explanation(), "\n"); strings.Contains(got, warning) {
		t.Errorf("whoever answers reads %s", got)
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
