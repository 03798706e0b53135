package exit

import (
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
)

func TestWhereAProcessStandsIsTheExitCode(t *testing.T) {
	waiting := map[string]loop.InstanceResult{"①": {Status: ideafile.InstanceWorking},
		"②": {Status: ideafile.InstanceWaiting}}
	for _, c := range []struct {
		r    loop.Result
		want int
	}{
		{loop.Result{Status: loop.StatusCompleted}, Done},
		{loop.Result{Status: loop.StatusRunning}, Done},
		{loop.Result{Status: loop.StatusRunning, Instances: waiting}, Paused},
		{loop.Result{Status: loop.StatusFailed}, Failed},
		{loop.Result{Status: loop.StatusCancelled}, Failed},
		{loop.Result{Status: loop.StatusPaused}, Paused},
		{loop.Result{Status: loop.StatusPaused, Error: &diag.Fault{Code: turn.CodeLimitReached}}, Paused},
		{loop.Result{Status: loop.StatusPaused, Error: &diag.Fault{Code: turn.CodeLLMUnreachable}}, Unreachable},
	} {
		if got := CodeOfResult(c.r); got != c.want {
			t.Errorf("%+v gives exit code %d, want %d", c.r, got, c.want)
		}
	}
}
