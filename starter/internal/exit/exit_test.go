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
		r    loop.ProcessResult
		want int
	}{
		{loop.ProcessResult{Status: loop.StatusCompleted}, Done},
		{loop.ProcessResult{Status: loop.StatusRunning}, Done},
		{loop.ProcessResult{Status: loop.StatusRunning, Instances: waiting}, Paused},
		{loop.ProcessResult{Status: loop.StatusFailed}, Failed},
		{loop.ProcessResult{Status: loop.StatusCancelled}, Failed},
		{loop.ProcessResult{Status: loop.StatusPaused}, Paused},
		{loop.ProcessResult{Status: loop.StatusPaused, Error: &diag.Fault{Code: turn.CodeLimitReached}}, Paused},
		{loop.ProcessResult{Status: loop.StatusPaused, Error: &diag.Fault{Code: turn.CodeLLMUnreachable}}, Unreachable},
	} {
		if got := CodeOfResult(c.r); got != c.want {
			t.Errorf("%+v gives exit code %d, want %d", c.r, got, c.want)
		}
	}
}
