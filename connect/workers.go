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
	d, err := c.DescribeTaskQueue(ctx, protocol.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return nil, fmt.Errorf("connect: ask who works on task queue %s: %w", protocol.TaskQueue, err)
	}
	var ids []string
	for _, p := range d.GetPollers() {
		_, id, hasMarker := strings.Cut(p.GetIdentity(), storeMarker)
		if hasMarker && id != "" && !slices.Contains(ids, id) &&
			time.Since(p.GetLastAccessTime().AsTime()) < maxPollAge {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// WorkerVersion is the Worker Deployment Version that a worker serves: a deployment and a build of it. The zero value
// is an unversioned worker.
type WorkerVersion struct{ Deployment, BuildID string }

// DeploymentVersion returns the version as a type of the SDK.
func (v WorkerVersion) DeploymentVersion() worker.WorkerDeploymentVersion {
	return worker.WorkerDeploymentVersion{DeploymentName: v.Deployment, BuildID: v.BuildID}
}
