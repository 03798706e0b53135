package activities

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"processidea/model/turn"
)

// A reply that takes longer than it may ends when its time is over, with the Calls that came until then. That a server
// is silent for as long is no reply: it is asked again.
func TestAReplyThatTakesTooLongEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	for name, begins := range map[string]string{"silent": "", "endless": solutionText[:len(solutionText)-1]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newWorker(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // or it is not seen that the client hangs up
				if begins != "" {
					w.Header().Set("Content-Type", "text/event-stream")
					quoted, _ := json.Marshal(begins)
					_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", quoted)
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			}).llm())
			reply, err := requestOf(t, a,
				strings.Replace(shoutIdea, "{", `{"config": {"llm": {"model": "m", "timeout": "1s"}}, `, 1))
			if begins == "" {
				if app := refused(t, err); app.NonRetryable() || app.Type() != turn.CodeLLMUnreachable {
					t.Error(app)
				}
				return
			}
			if err != nil || reply.IsComplete || !reply.HasUndeliveredCalls ||
				reply.Fault.Code != turn.CodeEndlessReply ||
				!strings.Contains(reply.Fault.Message, "longer than a Request may") {
				t.Fatalf("%+v, %v", reply, err)
			}
			if n, _ := a.Client.(*ears).calls(); n != 1 {
				t.Errorf("%d Calls were handed on", n)
			}
		})
	}
}
