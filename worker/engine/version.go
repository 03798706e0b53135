package engine

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"processidea/connect"
)

// deploymentOptions lets running processes and instances move to the current version. They live for weeks, and would
// otherwise keep every old version running as long; every change of their code is replayed over recorded histories.
func deploymentOptions(v connect.WorkerVersion) worker.DeploymentOptions {
	if v == (connect.WorkerVersion{}) {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{
		UseVersioning:             true,
		Version:                   v.DeploymentVersion(),
		DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	}
}
