package connect

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"processidea/protocol"
	"processidea/store/blobs"
)

// storeMarker precedes the id of a worker's store in its identity.
const storeMarker = " store:"

// WorkerIdentity returns the name of a worker for Temporal, with the id of its store.
func WorkerIdentity(s *blobs.Store) string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%d@%s%s%s", os.Getpid(), host, storeMarker, s.ID())
}

// maxPollAge is the time since its last poll after which a worker counts as gone. A worker polls every minute.
const maxPollAge = 2 * time.Minute

// StoreIDsOfWorkers lists the ids of the stores of all workers that poll now. It is empty if no worker does.
func StoreIDsOfWorkers(ctx context.Context, c client.Client) ([]string, error) {
	identities, err := workerIdentities(ctx, c)
	var ids []string
	for _, identity := range identities {
		if _, id, hasMarker := strings.Cut(identity, storeMarker); hasMarker && id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// CountWorkers counts the workers that poll now.
func CountWorkers(ctx context.Context, c client.Client) (int, error) {
	identities, err := workerIdentities(ctx, c)
	return len(identities), err
}

// workerIdentities lists the names of the workers that poll now.
func workerIdentities(ctx context.Context, c client.Client) (identities []string, err error) {
	d, err := c.DescribeTaskQueue(ctx, protocol.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return nil, fmt.Errorf("connect: ask who works on task queue %s: %w", protocol.TaskQueue, err)
	}
	for _, p := range d.GetPollers() {
		if time.Since(p.GetLastAccessTime().AsTime()) < maxPollAge {
			identities = append(identities, p.GetIdentity())
		}
	}
	return identities, nil
}

// WorkerVersion is the Worker Deployment Version that a worker serves: a deployment and a build of it. The zero value
// is an unversioned worker.
type WorkerVersion struct{ Deployment, BuildID string }

// DeploymentVersion returns the version as a type of the SDK.
func (v WorkerVersion) DeploymentVersion() worker.WorkerDeploymentVersion {
	return worker.WorkerDeploymentVersion{DeploymentName: v.Deployment, BuildID: v.BuildID}
}
