package feed

import (
	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/model/turn"
)

// refusedResult is the end of a process whose Idea its worker refused.
func refusedResult(process string, cause error) loop.Result {
	return loop.Result{
		ProcessID: process, Status: loop.StatusFailed, Instances: map[string]loop.InstanceResult{},
		Error: &diag.Fault{Code: turn.CodeInvalidIdea, Message: cause.Error()},
	}
}
