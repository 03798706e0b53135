package examples_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"processidea/examples/diamond/shop"
	"processidea/examples/invoices/books"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// servers are what the HTTP Tools of examples call, with the address that the example names.
var servers = map[string]struct {
	address string
	handler func() http.Handler
}{
	"diamond":  {"127.0.0.1:8765", shop.Handler},
	"invoices": {"127.0.0.1:8767", func() http.Handler { return &books.Books{} }},
}

// begin starts any example in memory, with its server where it has one.
func begin(t *testing.T, name string) *play {
	t.Helper()
	of, has := servers[name]
	if !has {
		idea, replies := parsed(t, name)
		return start(t, idea, replies, "")
	}
	server := httptest.NewServer(of.handler())
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	idea, replies := parsed(t, name, of.address, host)
	return start(t, idea, replies, host)
}

func TestInvoicesAreChasedAndLargeLettersAreAskedAbout(t *testing.T) {
	p := beginAny(t, "invoices")
	approve, asked := p.person, []string{}
	p.person = func(what approval.PendingCall) approval.Decision {
		asked = append(asked, what.CallID)
		return approve(what)
	}
	r := p.through()
	if r.Status != loop.StatusCompleted || r.RequestCount != 2 || r.Calls != (turn.CallCounts{Done: 19}) ||
		len(asked) != 3 {
		t.Errorf("%s after %d requests, calls %+v, asked about %v", r.Status, r.RequestCount, r.Calls, asked)
	}
	for token, want := range map[string]bool{"①": true, "③": false, "⑤": false, "⑧": true} {
		if _, sent := jsonval.ValueAt(r.Instances[token].State, jsonval.Path{"sent"}); sent != want {
			t.Errorf("%s is now %s", token, jsonval.Encode(r.Instances[token].State))
		}
	}
}

// states is what every instance of a result holds, in canonical bytes. How many Calls failed depends on what was lost.
func states(r loop.ProcessResult) string {
	for token, i := range r.Instances {
		i.FailedCallCount, i.RejectedCallCount = 0, 0
		r.Instances[token] = i
	}
	return fmt.Sprintf("%s %s %s", r.Status, jsonval.Encode(r.Output), jsonval.Encode(jsonval.ToJSONValue(r.Instances)))
}

func TestSentimentTakesTwoRequestsAndOneCallForBoth(t *testing.T) {
	r := begin(t, "sentiment").through()
	want := `completed {"summary":"One text is positive (①), one is negative (②)."} ` +
		`{"①":{"state":{"sentiment":"positive","text":"This is wonderful!"},"status":"settled"},` +
		`"②":{"state":{"sentiment":"negative","text":"This is terrible."},"status":"settled"}}`
	if got := states(r); got != want || r.RequestCount != 2 || r.Calls != (turn.CallCounts{Done: 2}) {
		t.Errorf("%s\nafter %d requests, calls %+v", got, r.RequestCount, r.Calls)
	}
}

func TestOnlyTheEmployeeWhoIsNamedChanges(t *testing.T) {
	p := begin(t, "employees")
	before := ideafile.InstanceViewOf(p.idea.Context, "employee_A").PayloadByKind[ideafile.TypeState]
	r := p.through()
	if got := jsonval.Encode(r.Instances["employee_A"].State); string(got) != string(jsonval.Encode(before)) ||
		!strings.Contains(string(got), "37.50") {
		t.Errorf("employee_A is now %s", got)
	}
	b := r.Instances["employee_B"].State
	first, _ := jsonval.ValueAt(b, jsonval.Path{"tasks", "0", "priority"})
	old, _ := jsonval.ValueAt(b, jsonval.Path{"tasks", "1", "title"})
	name, _ := jsonval.ValueAt(b, jsonval.Path{"name"})
	if first != "urgent" || old != "Add CSV export to the invoices page" || name != "Bo Lindqvist" {
		t.Errorf("employee_B is now %s", jsonval.Encode(b))
	}
	if r.Status != loop.StatusCompleted || r.RequestCount != 1 || r.Calls != (turn.CallCounts{Done: 1}) {
		t.Errorf("%s after %d requests, calls %+v", r.Status, r.RequestCount, r.Calls)
	}
}

func TestTheDiamondTakesTheAlternativeWhereTheExpressRefuses(t *testing.T) {
	r := begin(t, "diamond").through()
	want := `{"carrier":"standard","deliveryDate":"2026-03-10","quoteId":"Q-A-1187","totalCents":13120}`
	if got := string(jsonval.Encode(r.Output)); got != want || r.RequestCount != 2 ||
		r.Calls != (turn.CallCounts{Done: 7, Failed: 1}) {
		t.Errorf("%s after %d requests, calls %+v", got, r.RequestCount, r.Calls)
	}
}

func TestALightOrderOfTheDiamondGoesByExpress(t *testing.T) {
	server := httptest.NewServer(shop.Handler())
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	idea, replies := parsed(t, "diamond", "127.0.0.1:8765", host, "OVEN-28", "SCALE-5")
	r := start(t, idea, replies, host).through()
	want := `{"carrier":"express","deliveryDate":"2026-03-06","quoteId":"Q-A-1187","totalCents":7224}`
	if got := string(jsonval.Encode(r.Output)); got != want || r.Calls != (turn.CallCounts{Done: 7, Skipped: 1}) {
		t.Errorf("%s, calls %+v", got, r.Calls)
	}
}

func TestALatentResultThatNeedsAnotherIsAskedForByItself(t *testing.T) {
	p := begin(t, "latent")
	p.request(step(t, p))
	asking := step(t, p)
	if len(asking.Questions) != 1 || asking.Questions[0].CallID != "1.2" ||
		asking.Questions[0].Params["facts"] == "†state.facts" {
		t.Fatalf("asked for %+v", asking.Questions)
	}
	p.request(asking)
	r := p.through()
	answer, _ := jsonval.ValueAt(r.Output, jsonval.Path{"answer"})
	if s, _ := answer.(string); !strings.HasPrefix(s, "Dear Ines Moreau") || r.RequestCount != 3 ||
		r.Calls != (turn.CallCounts{Done: 2}) {
		t.Errorf("%v after %d requests, calls %+v", r.Output, r.RequestCount, r.Calls)
	}
}

func step(t *testing.T, p *play) *turn.RequestInput {
	t.Helper()
	s, brief := p.mind.Advance(p.started)
	if s != loop.StepRequest {
		t.Fatalf("%s instead of a Request", s)
	}
	return brief
}

// TestARunThatIsBrokenOffAnywhereEndsAlike loses the worker in one Request, or in the first two, after every number of
// Calls that were handed out.
func TestARunThatIsBrokenOffAnywhereEndsAlike(t *testing.T) {
	for _, name := range every(t) {
		t.Run(name, func(t *testing.T) {
			want := states(begin(t, name).through())
			for _, lost := range losses(name) {
				p := begin(t, name)
				p.lost = lost
				if got := states(p.through()); got != want {
					t.Errorf("lost %v (by Request, Calls handed out):\n%s\nwant\n%s", lost, got, want)
				}
			}
		})
	}
}

// losses are the ways in which a run is broken off: after how many Calls, by Request.
func losses(name string) (all []map[int]int) {
	if name == "moderation" { // one Request; six Calls for each of a hundred instances
		return []map[int]int{{1: 0}, {1: 1}, {1: 100, 2: 101}, {1: 333}, {1: 600}}
	}
	for n := range 9 {
		all = append(all, map[int]int{1: n}, map[int]int{2: n}, map[int]int{3: n}, map[int]int{1: n, 2: n})
	}
	return all
}
