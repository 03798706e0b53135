package activities

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"processidea/llm"
)

// That a server is silent is reported in the time that is left after the time for an answer. An answer that takes
// longer than it may has its activity time out, as it does with no time left.
func TestTimeIsLeftToReportThatAnLLMsServerIsSilent(t *testing.T) {
	for name, row := range map[string]struct {
		err   error
		waits bool
	}{
		"silent":             {&llm.Error{Retry: true}, false},
		"refused":            {&llm.Error{}, true},
		"longer than it may": {errors.New("cut"), true},
		"whole, too late":    {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 13*time.Second)
				defer cancel()
				err := tryFor(ctx, 3*time.Second, func(limited context.Context) error {
					<-limited.Done()
					return row.err
				})
				if !errors.Is(err, row.err) || (ctx.Err() != nil) != row.waits {
					t.Errorf("%v, after the end of its time: %v", err, ctx.Err())
				}
			})
		})
	}
}
