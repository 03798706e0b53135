package devserver

import (
	"context"
	"fmt"
	"maps"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"processidea/internal/pause"
	"processidea/model/jsonval"
)

// setUpNamespace waits until the frontend answers, and applies the options to the namespace.
func setUpNamespace(ctx context.Context, address string, o Options) error {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("devserver: reach server %s: %w", address, err)
	}
	defer conn.Close()
	if err := setRetention(ctx, workflowservice.NewWorkflowServiceClient(conn), o.Namespace, o.Retention); err != nil {
		return fmt.Errorf("devserver: prepare namespace %s: %w", o.Namespace, err)
	}
	if len(o.SearchAttributes) == 0 {
		return nil
	}
	if err := addAttributes(ctx, operatorservice.NewOperatorServiceClient(conn), o.Namespace,
		o.SearchAttributes); err != nil {
		return fmt.Errorf("devserver: register search attributes in %s: %w", o.Namespace, err)
	}
	if err := awaitAttributes(ctx, workflowservice.NewWorkflowServiceClient(conn), o); err != nil {
		return fmt.Errorf("devserver: try search attributes in %s: %w", o.Namespace, err)
	}
	return nil
}

// setRetention sets the retention of the namespace, which an earlier start may have made with another.
func setRetention(ctx context.Context, c workflowservice.WorkflowServiceClient, namespace string,
	retention time.Duration) error {
	var ns *workflowservice.DescribeNamespaceResponse
	err := retryUntilReady(ctx, func() (err error) {
		ns, err = c.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
		return err
	})
	if err != nil || ns.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() == retention {
		return err
	}
	return retryUntilReady(ctx, func() error {
		_, err := c.UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
			Namespace: namespace,
			Config:    &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(retention)},
		})
		return err
	})
}

// addAttributes registers the missing search attributes. An attribute that exists with another type is an error. The
// server itself would accept it and leave it as it is.
func addAttributes(ctx context.Context, c operatorservice.OperatorServiceClient, namespace string,
	wanted map[string]enumspb.IndexedValueType) error {
	var existing *operatorservice.ListSearchAttributesResponse
	err := retryUntilReady(ctx, func() (err error) {
		existing, err = c.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
		return err
	})
	if err != nil {
		return err
	}
	missing := maps.Clone(wanted)
	for _, name := range jsonval.SortedKeys(wanted) {
		kind, exists := existing.GetCustomAttributes()[name]
		if exists && kind != wanted[name] {
			return fmt.Errorf("%s is of type %v, not %v", name, kind, wanted[name])
		}
		if exists {
			delete(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return retryUntilReady(ctx, func() error {
		_, err := c.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
			Namespace: namespace, SearchAttributes: missing,
		})
		return err
	})
}

// awaitAttributes returns when list filters can use every search attribute.
func awaitAttributes(ctx context.Context, c workflowservice.WorkflowServiceClient, o Options) error {
	for _, name := range jsonval.SortedKeys(o.SearchAttributes) {
		err := retryUntilReady(ctx, func() error {
			_, err := c.CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{
				Namespace: o.Namespace, Query: "`" + name + "` IS NOT NULL",
			})
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// retryUntilReady calls ask until it succeeds, fails for good, or ctx ends.
func retryUntilReady(ctx context.Context, try func() error) error {
	for {
		err := try()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case !isTransient(err):
			return err
		}
		_ = pause.For(ctx, 10*time.Millisecond)
	}
}

// isTransient reports whether an error may come from a server that is not ready yet.
func isTransient(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.PermissionDenied, codes.Unimplemented, codes.FailedPrecondition:
		return false
	}
	return true
}
