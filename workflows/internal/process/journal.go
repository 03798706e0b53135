package process

import (
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/protocol"
)

// This file records the state of a process in the worker's log and metrics. A replay records nothing.

// logStatus logs that the status of the process has changed, and why. Parts are left out: their process logs for them.
func (c *processCore) logStatus(ctx workflow.Context, status loop.Status, reason *diag.Fault) {
	if c.start.Part != nil || c.lastLoggedStatus == status {
		return
	}
	previous := c.lastLoggedStatus
	c.lastLoggedStatus = status
	log, fields := workflow.GetLogger(ctx), []any{"process", c.processID}
	code := ""
	if reason != nil {
		code = reason.Code
		fields = append(fields, "code", reason.Code, "reason", reason.Message)
	}
	switch {
	case status == loop.StatusRunning && previous == "":
		log.Info("the process began", fields...)
		c.incrementStatusCounter(ctx, "began", "")
		return
	case status == loop.StatusRunning:
		log.Info("the process goes on", fields...)
		c.incrementStatusCounter(ctx, "resumed", "")
		return
	case status == loop.StatusPaused:
		log.Warn("the process is paused", fields...)
	case status == loop.StatusFailed:
		log.Warn("the process has failed", fields...)
	default:
		log.Info("the process has ended", append(fields, "status", string(status))...)
	}
	c.incrementStatusCounter(ctx, string(status), code)
}

// incrementStatusCounter counts a process by its status, and by the code of its reason.
func (c *processCore) incrementStatusCounter(ctx workflow.Context, status, reasonCode string) {
	workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"status": status, "code": reasonCode}).
		Counter(protocol.MetricProcesses).Inc(1)
}
