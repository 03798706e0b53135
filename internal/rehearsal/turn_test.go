package rehearsal

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/openai/openai-go/v3/option"
)

const two = `{"raw": "first"}
{"raw": "second"}`

func TestTheNthLineAnswersTheNthRequest(t *testing.T) {
	t.Parallel()
	server := start(t, two)
	ask(t, server, "a").want(t, "first", "stop")
	ask(t, server, "b").want(t, "second", "stop")
}

func TestARequestBeyondTheLastLineIsRefused(t *testing.T) {
	t.Parallel()
	server := start(t, two)
	ask(t, server, "a", turn(3)).wantError(t, http.StatusBadRequest,
		"rehearsal: no reply for request 3: the file has 2: add one, or have an LLM answer, and start anew")
	empty := start(t, "")
	fault := askWhole(t, empty, "a").wantError(t, http.StatusBadRequest,
		"rehearsal: no reply for request 1: the file has 0")
	if fault.Code != "no_reply" {
		t.Errorf("code %q", fault.Code)
	}
}

func TestTheTurnHeaderTellsWhichLineAnswers(t *testing.T) {
	t.Parallel()
	server := start(t, two)
	for _, n := range []int{2, 1, 2, 2} {
		ask(t, server, "a", turn(n)).want(t, []string{"first", "second"}[n-1], "stop")
	}
	if seen := server.Requests(); seen[0].RequestNumber != 2 || seen[1].RequestNumber != 1 {
		t.Errorf("logged as requests %d and %d", seen[0].RequestNumber, seen[1].RequestNumber)
	}
}

func TestRequestsThatTellTheirTurnAreNotCounted(t *testing.T) {
	t.Parallel()
	server := start(t, two)
	ask(t, server, "a", turn(2)).want(t, "second", "stop")
	ask(t, server, "a").want(t, "first", "stop")
}

func TestATurnThatIsNoNumberFromOneOnIsRefused(t *testing.T) {
	t.Parallel()
	server := start(t, two)
	for _, bad := range []string{"0", "-1", "1.0", "one", "99999999999999999999"} {
		got := ask(t, server, "a", option.WithHeader(TurnNumberHeader, bad))
		got.wantError(t, http.StatusBadRequest, fmt.Sprintf("%q is not a number from 1 on", bad))
	}
}

func TestTheFirstLineWhoseWhenThePromptHoldsWins(t *testing.T) {
	t.Parallel()
	server := start(t, `{"raw": "by turn"}
{"raw": "cats", "when": "cat"}
{"raw": "also cats", "when": "a cat"}
{"raw": "dogs", "when": "dog"}`)
	ask(t, server, "a cat and a dog").want(t, "cats", "stop")
	ask(t, server, "a dog").want(t, "dogs", "stop")
	ask(t, server, "a dog").want(t, "dogs", "stop")
	ask(t, server, "a bird", turn(1)).want(t, "by turn", "stop")
}

func TestRequestsAnsweredByWhenCountAsTurnsToo(t *testing.T) {
	t.Parallel()
	server := start(t, `{"raw": "cats", "when": "cat"}
{"raw": "first"}
{"raw": "second"}`)
	ask(t, server, "a cat").want(t, "cats", "stop")
	ask(t, server, "a bird").want(t, "second", "stop")
	ask(t, server, "a bird").wantError(t, http.StatusBadRequest, "no reply for request 3: the file has 2")
}

func TestWhenLooksIntoEveryMessageAndPart(t *testing.T) {
	t.Parallel()
	server := start(t, `{"raw": "found", "when": "nee\"dle\nin"}`)
	bodies := []string{
		`[{"role":"system","content":"x"},{"role":"user","content":"the nee\"dle\nin hay"}]`,
		`[{"role":"user","content":[{"type":"text","text":"the nee"},{"type":"image_url"},{"type":"text","text":"\"dle\nin"}]}]`,
		`[{"role":"user","content":"nee\"dle"},{"role":"assistant","content":null},{"role":"user","content":"x"},
		  {"role":"user","content":"nee\"dle"},{"role":"user","content":"in"}]`,
	}
	for _, messages := range bodies {
		if status, body := post(t, server, `{"model":"m","messages":`+messages+`}`); status != 200 ||
			!strings.Contains(body, "found") {
			t.Errorf("%s was answered with %d %s", messages, status, body)
		}
	}
}

func TestConcurrentRequestsEachGetTheirTurnOnce(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	for i := range 20 {
		fmt.Fprintf(&file, "{\"raw\": \"reply %d\"}\n", i)
	}
	server := start(t, file.String())
	c := client(t, server.URL())
	var mu sync.Mutex
	var group sync.WaitGroup
	solution := map[string]int{}
	for range 20 {
		group.Go(func() {
			got := listen(c, params("a"))
			mu.Lock()
			defer mu.Unlock()
			solution[got.content]++
		})
	}
	group.Wait()
	if len(solution) != 20 || len(server.Requests()) != 20 {
		t.Errorf("heard %v in %d requests", solution, len(server.Requests()))
	}
}
