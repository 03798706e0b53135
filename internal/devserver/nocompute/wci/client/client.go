// Package client is the server's access to the compute configurations of worker deployments. It refuses them all.
package client

import (
	"context"

	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/auto-scaled-workers/wci/workflow/iface"
	"go.temporal.io/server/common/namespace"
	"go.uber.org/fx"
)

// Client is the server's interface to the module. Here no version has a compute configuration.
type Client interface {
	// DescribeWorkerControllerInstance returns serviceerror.NotFound; the server then describes the version without a
	// compute configuration.
	DescribeWorkerControllerInstance(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion,
	) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error)
	// ValidateWorkerControllerInstanceSpec returns serviceerror.InvalidArgument.
	ValidateWorkerControllerInstanceSpec(ctx context.Context, ns *namespace.Namespace,
		version *deploymentpb.WorkerDeploymentVersion, identity string,
		upsert map[string]iface.ScalingGroupSpecUpdate, remove []string) error
	// UpdateWorkerControllerInstance returns serviceerror.InvalidArgument, which the server does not retry.
	UpdateWorkerControllerInstance(ctx context.Context, ns *namespace.Namespace,
		version *deploymentpb.WorkerDeploymentVersion, token []byte, identity string,
		upsert map[string]iface.ScalingGroupSpecUpdate, remove []string,
	) (*iface.UpdateWorkerControllerInstanceResponse, error)
	// DeleteWorkerControllerInstance has nothing to delete. The server calls it for every version that it deletes.
	DeleteWorkerControllerInstance(ctx context.Context, ns *namespace.Namespace,
		version *deploymentpb.WorkerDeploymentVersion, identity string) error
}

// Module provides the server's Client, without a hook for waiting tasks.
var Module = fx.Provide(func() Client { return refusing{} })

type refusing struct{}

func refused() error {
	return serviceerror.NewInvalidArgument("this server is built without compute providers: " +
		"start the workers yourself, and give the version no compute configuration")
}

func (refusing) DescribeWorkerControllerInstance(context.Context, *namespace.Namespace,
	*deploymentpb.WorkerDeploymentVersion,
) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error) {
	return nil, nil, serviceerror.NewNotFound(
		"no compute configuration: this server is built without compute providers")
}

func (refusing) ValidateWorkerControllerInstanceSpec(context.Context, *namespace.Namespace,
	*deploymentpb.WorkerDeploymentVersion, string, map[string]iface.ScalingGroupSpecUpdate, []string,
) error {
	return refused()
}

func (refusing) UpdateWorkerControllerInstance(context.Context, *namespace.Namespace,
	*deploymentpb.WorkerDeploymentVersion, []byte, string, map[string]iface.ScalingGroupSpecUpdate, []string,
) (*iface.UpdateWorkerControllerInstanceResponse, error) {
	return nil, refused()
}

func (refusing) DeleteWorkerControllerInstance(context.Context, *namespace.Namespace,
	*deploymentpb.WorkerDeploymentVersion, string,
) error {
	return nil
}
