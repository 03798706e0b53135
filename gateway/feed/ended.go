package feed

import (
	"processidea/model/diag"
	"processidea/model/runresult"
	"processidea/model/turn"
)

// refusedResult is the end of a process whose Idea its worker refused.
func refusedResult(process string, cause error) runresult.Result {
	return runresult.Result{
		ProcessID: process, Status: runresult.StatusFailed, Instances: map[string]runresult.Instance{},
		Error: &diag.Fault{Code: turn.CodeInvalidIdea, Message: cause.Error()},
	}
}
