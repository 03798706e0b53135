package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile/shown"
)

const someSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// The numbers are those that the specification's libraries are tested with.
func TestASignatureIsThatOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	keys, err := readKeys(someSecret)
	if err != nil {
		t.Fatal(err)
	}
	s := &Sender{signingKeys: keys, now: func() time.Time { return time.Unix(1614265330, 0) }}
	h := http.Header{}
	s.sign(h, "msg_p5jXN8AQM9LWM0D4loKWxJek", []byte(`{"test": 2432232314}`))
	if h.Get("webhook-signature") != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" ||
		h.Get("webhook-id") != "msg_p5jXN8AQM9LWM0D4loKWxJek" || h.Get("webhook-timestamp") != "1614265330" {
		t.Errorf("%v", h)
	}
	if s.signingKeys, err = readKeys(someSecret + " whsec_" + strings.Repeat("QUJD", 8)); err != nil {
		t.Fatal(err)
	}
	s.sign(h, "msg_p5jXN8AQM9LWM0D4loKWxJek", []byte(`{"test": 2432232314}`))
	if list := strings.Fields(h.Get("webhook-signature")); len(list) != 2 ||
		list[0] != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("%v", list)
	}
}

// sender makes a Sender as a worker does.
func sender(t *testing.T, url, format string) *Sender {
	t.Helper()
	s, err := FromEnvironment(func(name string) string {
		return map[string]string{URLVariable: url, FormatVariable: format, SecretVariable: someSecret,
			LinkVariable: "https://ui.example/{process}"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var oneNotice = approval.Notification{
	ProcessID: "p 1", ProcessPath: "refunds", AwaitingCallCount: 2,
	NewlyWaiting: []approval.Notice{{CallID: "1.1@①", Instance: "①", Tool: "refund", Digest: "d",
		AllowedDecisions: []string{"approve"}}},
	NoLongerWaiting: []approval.Notice{{CallID: "1.1@②", Instance: "②", Tool: "refund", DecisionKind: "reject",
		DecidedBy: "<!channel> & ann"}}, OmittedNoLongerWaitingCount: 3,
}

func TestANoticeIsPostedInBothFormats(t *testing.T) {
	t.Parallel()
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got,
			_ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	if err := sender(t, server.URL, "").Send(t.Context(), "msg_1", oneNotice, nil); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Type, Timestamp, Text string
		Data                  approval.Notification
	}
	if err := json.Unmarshal(got, &body); err != nil || body.Type != "approvals.changed" ||
		body.Data.NewlyWaiting[0].CallID != "1.1@①" || body.Data.AwaitingCallCount != 2 {
		t.Errorf("%s %v", got, err)
	}
	want := "refunds (p 1): 2 cases wait for a person\n• waits: 1.1@① refund\n• rejected by <!channel> & ann: 1.1@② " +
		"refund\n• 3 more no longer wait\nhttps://ui.example/p%201"
	if body.Text != want {
		t.Errorf("%s", body.Text)
	}
	if err := sender(t, server.URL, "slack").Send(t.Context(), "msg_1", oneNotice, nil); err != nil {
		t.Fatal(err)
	}
	var slack map[string]string
	if err := json.Unmarshal(got, &slack); err != nil || len(slack) != 1 ||
		!strings.Contains(slack["text"], "&lt;!channel&gt; &amp; ann") {
		t.Errorf("%s %v", got, err)
	}
}

// Formats with words say what Calls do, as people are shown it, and open the very case; the others say neither.
func TestANoticeSaysWhatCallsDoWhereItsFormatHasWords(t *testing.T) {
	t.Parallel()
	words := map[string]DescribedCall{"d": {Call: shown.Call{
		Sentence: "Refund 12.50 EUR to <Ann>", InstanceName: "order 7",
		Fields: []shown.Field{{Name: "amount", Title: "Amount", Value: 1250, DisplayText: "12.50 EUR"}}}}}
	for format, want := range map[string]string{
		FormatJSONWithDescriptions: `"fields":[{"name":"amount","shown":"12.50 EUR","title":"Amount","value":1250}]`,
		FormatSlackBlocks: `{"accessory":{"text":{"text":"Open","type":"plain_text"},"type":"button",` +
			`"url":"https://ui.example/p%201/1.1@%E2%91%A0"},"fields":[{"text":"*Amount*\n12.50 EUR","type":"mrkdwn"}],` +
			`"text":{"text":"Refund 12.50 EUR to &lt;Ann&gt; · order 7\nwaits","type":"mrkdwn"},"type":"section"}`,
		// nothing of it is read as Markdown: [names](https://elsewhere.example) are no links
		FormatTeams: `{"inlines":[{"text":"Refund 12.50 EUR to <Ann> · order 7","type":"TextRun","weight":"Default"}],` +
			`"type":"RichTextBlock"},{"inlines":[{"text":"waits","type":"TextRun","weight":"Lighter"}],` +
			`"type":"RichTextBlock"},{"inlines":[{"text":"Amount: ","type":"TextRun","weight":"Bolder"},` +
			`{"text":"12.50 EUR","type":"TextRun","weight":"Default"}],"type":"RichTextBlock"},` +
			`{"actions":[{"title":"Open","type":"Action.OpenUrl","url":"https://ui.example/p%201/1.1@%E2%91%A0"}],"type":"ActionSet"}`,
	} {
		s := sender(t, "http://127.0.0.1:1", format)
		s.linkTemplate = "https://ui.example/{process}/{call}"
		if got := string(s.encodeBody(oneNotice, words)); !s.DescribesCalls() || !strings.Contains(got, want) {
			t.Errorf("%s: %s", format, got)
		}
	}
	for _, format := range []string{"", FormatSlack} {
		if sender(t, "http://127.0.0.1:1", format).DescribesCalls() {
			t.Errorf("%q has words", format)
		}
	}
}

// A text from right to left would turn what stands after it on its line: an amount, a time, a name.
func TestATextFromRightToLeftTurnsNothingBesideIt(t *testing.T) {
	t.Parallel()
	const name, isolate = "חנה", "\u2068חנה\u2069"
	n := approval.Notification{ProcessID: "p", AwaitingCallCount: 1,
		NewlyWaiting: []approval.Notice{{CallID: "1.1@①", Tool: "refund", Digest: "d"}},
		NoLongerWaiting: []approval.Notice{{CallID: "1.1@②", Tool: "refund", DecisionKind: "amend", DecidedBy: name,
			DecidedOnBehalfOf: name}},
		Remarks: []approval.Notice{{CallID: "1.1@①", Tool: "refund", Digest: "d",
			Remark: &approval.NoticeRemark{Kind: approval.HandOver, Author: name, RecipientName: name}}},
	}
	words := map[string]DescribedCall{"d": {Call: shown.Call{
		Sentence: "Refund " + name + " 12.50 EUR", InstanceName: name,
		Parts:  shown.TextSpans{{Text: "Refund "}, {Text: name, IsData: true}, {Text: " 12.50 EUR"}},
		Fields: []shown.Field{{Title: "To", DisplayText: name}, {Title: "Note", DisplayText: "a\u202e\u2069b"}}}}}
	for format, wants := range map[string][]string{
		FormatJSONWithDescriptions: {`waits: Refund ` + isolate + ` 12.50 EUR · ` + isolate + `\n`,
			`"shown":"` + name + `"`,
			isolate + " has handed it over to " + isolate + ": Refund ",
			"amended by " + isolate + " in place of " + isolate},
		FormatSlackBlocks: {`"text":"Refund ` + isolate + ` 12.50 EUR · ` + isolate + `\nwaits"`, `*To*\n` + isolate,
			`*Note*\na⟨U+202E⟩⟨U+2069⟩b"`},
		FormatTeams: {`"text":"Refund ` + isolate + ` 12.50 EUR · ` + isolate + `"`, `"text":"` + isolate + `"`,
			`"text":"a⟨U+202E⟩⟨U+2069⟩b"`},
	} {
		got := string(sender(t, "http://127.0.0.1:1", format).encodeBody(n, words))
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q: %s", format, want, got)
			}
		}
	}
	long := shown.Call{Parts: shown.TextSpans{{Text: strings.Repeat("x", maxFieldChars-2)},
		{Text: strings.Repeat("א", 9), IsData: true}, {Text: "y"}}}
	if got := isolatedSentence(long); !strings.HasSuffix(got, "x\u2068אא…\u2069") {
		t.Errorf("what is cut off is %q", got[maxFieldChars-2:])
	}
}

// Who reads only the message learns what is asked, until when, and what became of what was asked before.
func TestMessagesSayWhatIsAskedUntilWhenAndWhatWasDecided(t *testing.T) {
	t.Parallel()
	deadline := time.Date(2026, 12, 3, 9, 0, 0, 5, time.UTC)
	newRemark := func(digest, kind, to string) approval.Notice {
		return approval.Notice{CallID: "1.1@" + digest, Tool: "refund", Digest: digest, Deadline: &deadline,
			Remark: &approval.NoticeRemark{Kind: kind, Author: "ann", RecipientName: to}}
	}
	n := approval.Notification{ProcessID: "p", AwaitingCallCount: 2,
		Remarks: []approval.Notice{newRemark("①", approval.Ask, "<bob>"), newRemark("②", approval.HandOver, "cem")},
		NoLongerWaiting: []approval.Notice{
			{CallID: "1.1@③", Tool: "refund", Digest: "③", DecisionKind: policy.Approve, DecidedBy: "dora"},
			{CallID: "1.1@④", Tool: "refund", Digest: "④", DecisionKind: policy.Reject,
				DecidedBy: approval.DecidedByTimeout}}, OmittedNoLongerWaitingCount: 3}
	words := map[string]DescribedCall{}
	for _, token := range []string{"①", "②", "③", "④"} {
		words[token] = DescribedCall{Call: shown.Call{Sentence: "Refund " + token,
			Fields: []shown.Field{{Title: "For", DisplayText: "case " + token}}}}
	}
	// Since the notice was taken, others have said something too.
	words["①"] = DescribedCall{Call: words["①"].Call, Remarks: []approval.Decision{
		{Kind: approval.Ask, DecidedBy: "ann", RecipientName: "<bob>", Reason: "did it\ncome back?"},
		{Kind: approval.Ask, DecidedBy: "cem", RecipientName: "<bob>", Reason: "not ann's"}}}
	words["②"] = DescribedCall{Call: words["②"].Call, Remarks: []approval.Decision{
		{Kind: approval.HandOver, DecidedBy: "ann", RecipientName: "dora", Reason: "not to cem"},
		{Kind: approval.Ask, DecidedBy: "ann", RecipientName: "cem", Reason: "not by hand-over"}}}
	for _, format := range []string{FormatJSONWithDescriptions, FormatSlackBlocks, FormatTeams} {
		got := string(sender(t, "http://127.0.0.1:1", format).encodeBody(n, words))
		got = strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(got)
		for _, want := range []string{"ann asks <bob> “did it come back?”", "ann has handed it over to cem",
			", until 3 December 2026, 09:00 UTC", "approved by dora", "rejected, since nobody decided in time",
			"Refund ①", "Refund ②", "Refund ③", "Refund ④", "• 3 more no longer wait"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q: %s", format, want, got)
			}
		}
		if strings.Contains(got, "not ") {
			t.Errorf("%s quotes another remark than that of the notice: %s", format, got)
		}
		if format != FormatJSONWithDescriptions &&
			(!strings.Contains(got, "case ②") || strings.Contains(got, "case ③")) {
			t.Errorf("%s shows the parameters of what is decided, or none: %s", format, got)
		}
	}
}

func TestAMessageCountsTheCallsThatHaveNoSpaceInIt(t *testing.T) {
	t.Parallel()
	var n approval.Notification
	for i := range approval.MaxNotices {
		w := approval.Notice{CallID: fmt.Sprintf("1.%d@①", i), Tool: "refund"}
		n.NewlyWaiting, n.Reminders = append(n.NewlyWaiting, w), append(n.Reminders, w)
		w.Digest = "d"
		n.Escalations, n.NoLongerWaiting = append(n.Escalations, w), append(n.NoLongerWaiting, w)
		w.Digest = "e"
		n.NoLongerWaiting[i] = w
	}
	for _, format := range []string{FormatSlackBlocks, FormatTeams} {
		got := string(sender(t, "http://127.0.0.1:1", format).encodeBody(n, nil))
		if strings.Count(got, `"Open"`) != maxSections ||
			!strings.Contains(got, "• 20 more no longer wait") {
			t.Errorf("%s: %s", format, got)
		}
	}
}

func TestRemindersAndEscalationsSayWhatWaitsStillAndWhoMayDecide(t *testing.T) {
	t.Parallel()
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got,
			_ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	still := approval.Notice{CallID: "1.1@①", Tool: "refund", Since: time.Unix(0, 0), ReminderCount: 1}
	escalated := still
	escalated.EscalatedTo = policy.DeciderRules{{Groups: []string{"<heads>"}}}
	n := approval.Notification{ProcessID: "p", AwaitingCallCount: 9, Reminders: []approval.Notice{still},
		OmittedReminderCount: 2,
		Escalations:          []approval.Notice{escalated}, OmittedEscalationCount: 3, OmittedRemarkCount: 4,
		Remarks: []approval.Notice{{CallID: "1.2@①", Tool: "refund", Remark: &approval.NoticeRemark{
			Kind: approval.HandOver, Author: "<ann>", RecipientGroup: "heads"}}}}
	if err := sender(t, server.URL, "slack").Send(t.Context(), "m", n, nil); err != nil {
		t.Fatal(err)
	}
	var slack map[string]string
	want :=
		"p: 9 cases wait for a person\n• still waits: 1.1@① refund, since 1 January 1970, 00:00 UTC\n" +
			"• 2 more still wait\n" +
			"• escalated: 1.1@① refund, since 1 January 1970, 00:00 UTC; may decide too: people of &lt;heads&gt;\n" +
			"• 3 more were escalated\n• &lt;ann&gt; has handed it over to people of heads: 1.2@① refund\n• 4 more were asked " +
			"about\n" +
			"https://ui.example/p"
	if err := json.Unmarshal(got, &slack); err != nil || slack["text"] != want {
		t.Errorf("%s", slack["text"])
	}
}

func TestWhatIsWorthAnotherAttemptIsSaidAndNoSecretIs(t *testing.T) {
	t.Parallel()
	status := 0
	server := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no "+r.URL.Path, status) }))
	s := sender(t, server.URL+"/services/T0/B0/secret-part", "slack")
	for code, retry := range map[int]bool{400: false, 403: false, 404: false, 302: false, 408: true, 429: true,
		500: true, 503: true} {
		status = code
		err := s.Send(t.Context(), "m", oneNotice, nil)
		var e *Error
		if !errors.As(err, &e) || e.IsRetryable != retry || strings.Contains(err.Error(), "secret-part") {
			t.Errorf("%d: %v", code, err)
		}
	}
	server.Close()
	err := s.Send(t.Context(), "m", oneNotice, nil)
	var e *Error
	if !errors.As(err, &e) || !e.IsRetryable || strings.Contains(err.Error(), "secret-part") {
		t.Errorf("%v", err)
	}
}

// The secret may stand anywhere in the address, and anywhere in the answer: half of it is no less.
func TestNoPartOfASecretInTheAddressIsSaid(t *testing.T) {
	t.Parallel()
	const hidden = "a-secret-that-is-long-enough-to-be-cut"
	for name, address := range map[string]string{"path": "/" + hidden, "query": "/?key=" + hidden + "&v=1",
		"second": "/?v=json&key=" + hidden} {
		for _, before := range []int{0, 480, 495} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, strings.Repeat("x", before)+hidden+" is not known", http.StatusForbidden)
			}))
			err := sender(t, server.URL+address, "").Send(t.Context(), "m", oneNotice, nil)
			server.Close()
			if err == nil || strings.Contains(err.Error(), hidden[:4]) || len(err.Error()) > 600 {
				t.Errorf("%s, after %d characters: %v", name, before, err)
			}
		}
	}
}

func TestANoticeFollowsNobodyElsewhere(t *testing.T) {
	t.Parallel()
	var reached bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	if err := sender(t, server.URL, "").Send(t.Context(), "m", oneNotice, nil); err == nil || reached {
		t.Errorf("it went there: %v", err)
	}
}

func TestSettingsThatCannotBeMeantAreRefusedWithoutTheirText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, secret, format, link, want string }{
		{"hooks.example/token-1", "", "", "", "PROCESSIDEA_NOTIFY_URL: not an http or https URL"},
		{"https://x.example", "whsec_token-1", "", "", "PROCESSIDEA_NOTIFY_SECRET: secret 1 must be whsec_"},
		{"https://x.example", "token-1MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "", "", "PROCESSIDEA_NOTIFY_SECRET"},
		{"https://x.example", "", "xml", "",
			`PROCESSIDEA_NOTIFY_FORMAT: "xml" is not one of json, json-words`},
		{"https://x.example", "", "", "desk/{process}", "PROCESSIDEA_NOTIFY_LINK: not an http or https URL"},
		{"", "", "xml", "", "PROCESSIDEA_NOTIFY_FORMAT"},
		{"", "whsec_token-1", "", "", "PROCESSIDEA_NOTIFY_SECRET"},
	} {
		_, err := FromEnvironment(func(name string) string {
			return map[string]string{URLVariable: c.url, SecretVariable: c.secret, FormatVariable: c.format,
				LinkVariable: c.link}[name]
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "token-1") {
			t.Errorf("%+v gives %v", c, err)
		}
	}
	if s, err := FromEnvironment(func(string) string { return "" }); s != nil || err != nil {
		t.Errorf("nobody is to be told: %v %v", s, err)
	}
}
