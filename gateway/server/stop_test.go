package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// A gateway that is told to stop answers what it has begun to read, and lets those go who only follow.
func TestARequestThatIsUnderWayIsAnsweredThoughTheGatewayStops(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.begin("a text that somebody must look at")
	waits := h.waiting(id, 1)
	follower := h.follow(id, "")
	follower.until(func(e event) bool { return e.kind == "status" })
	body, err := json.Marshal(map[string]any{"decisions": []any{decisionOn(waits[0], "approve", "by", "ann")}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /api/decisions HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		strings.TrimPrefix(h.url, "http://"), h.token, len(body))
	answers := bufio.NewReader(c)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err)
	}
	_, _ = answers.ReadString('\n')
	h.stop()
	for _, more := follower.next(); more; {
		_, more = follower.next()
	}
	_, _ = c.Write(body)
	r, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	answer := new(strings.Builder)
	if _, err := bufio.NewReader(r.Body).WriteTo(answer); err != nil || r.StatusCode != http.StatusOK ||
		!strings.Contains(answer.String(), `"taken"`) {
		t.Errorf("it answers %s: %s (%v)", r.Status, answer, err)
	}
}
