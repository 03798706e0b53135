package exit

import (
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/runresult"
	"processidea/model/turn"
)

func TestWhereAProcessStandsIsTheExitCode(t *testing.T) {
	waiting := map[string]runresult.Instance{"①": {Status: ideafile.InstanceWorking}, "②": {Status: ideafile.InstanceWaiting}}
	for _, c := range []struct {
		r    runresult.Result
		want int
	}{
		{runresult.Result{Status: runresult.StatusCompleted}, Done},
		{runresult.Result{Status: runresult.StatusRunning}, Done},
		{runresult.Result{Status: runresult.StatusRunning, Instances: waiting}, Paused},
		{runresult.Result{Status: runresult.StatusFailed}, Failed},
		{runresult.Result{Status: runresult.StatusCancelled}, Failed},
		{runresult.Result{Status: runresult.StatusPaused}, Paused},
		{runresult.Result{Status: runresult.StatusPaused, Error: &diag.Fault{Code: turn.CodeLimitReached}}, Paused},
		{runresult.Result{Status: runresult.StatusPaused, Error: &diag.Fault{Code: turn.CodeLLMUnreachable}}, Unreachable},
	} {
		if got := CodeOfResult(c.r); got != c.want {
			t.Errorf("%+v gives exit code %d, want %d", c.r, got, c.want)
		}
	}
}
