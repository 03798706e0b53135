package engine

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Version is the Worker Deployment Version that a worker serves: a deployment and a build of it. The zero value is none,
// a worker without versions.
type Version struct{ Deployment, BuildID string }

// options lets running processes and instances move to whatever version is current. They live for weeks, and would
// otherwise keep every old version running as long; every change of their code is replayed over recorded histories.
func (v Version) options() worker.DeploymentOptions {
	if v == (Version{}) {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{
		UseVersioning:             true,
		Version:                   v.ofDeployment(),
		DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	}
}

func (v Version) ofDeployment() worker.WorkerDeploymentVersion {
	return worker.WorkerDeploymentVersion{DeploymentName: v.Deployment, BuildID: v.BuildID}
}
