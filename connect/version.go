package connect

import "go.temporal.io/sdk/worker"

// Version is the Worker Deployment Version that a worker serves: a deployment and a build of it. The zero value is an
// unversioned worker.
type Version struct{ Deployment, BuildID string }

// DeploymentVersion returns the version as a type of the SDK.
func (v Version) DeploymentVersion() worker.WorkerDeploymentVersion {
	return worker.WorkerDeploymentVersion{DeploymentName: v.Deployment, BuildID: v.BuildID}
}
