package devserver

import (
	"context"
	"fmt"
	"maps"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

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
	workflowService := workflowservice.NewWorkflowServiceClient(conn)
	err = retryUntilReady(ctx, func() error {
		_, err := workflowService.DescribeNamespace(ctx,
			&workflowservice.DescribeNamespaceRequest{Namespace: namespace})
		return err
	})
	if err != nil {
		return fmt.Errorf("devserver: reach namespace %s: %w", namespace, err)
	}
	if len(o.SearchAttributes) == 0 {
		return nil
	}
	if err := addMissingSearchAttributes(ctx, operatorservice.NewOperatorServiceClient(conn),
		o.SearchAttributes); err != nil {
		return fmt.Errorf("devserver: register search attributes in %s: %w", namespace, err)
	}
	if err := awaitSearchAttributes(ctx, workflowService, o); err != nil {
		return fmt.Errorf("devserver: try search attributes in %s: %w", namespace, err)
	}
	return nil
}

// addMissingSearchAttributes registers the missing search attributes. An attribute that exists with another type is an
// error. The server itself would accept it and leave it as it is.
func addMissingSearchAttributes(ctx context.Context, c operatorservice.OperatorServiceClient,
	wantedTypes map[string]enumspb.IndexedValueType) error {
	var existing *operatorservice.ListSearchAttributesResponse
	err := retryUntilReady(ctx, func() (err error) {
		existing, err = c.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
		return err
	})
	if err != nil {
		return err
	}
	missingTypes := maps.Clone(wantedTypes)
	for _, name := range jsonval.SortedKeys(wantedTypes) {
		existingType, exists := existing.GetCustomAttributes()[name]
		if exists && existingType != wantedTypes[name] {
			return fmt.Errorf("%s is of type %v, not %v", name, existingType, wantedTypes[name])
		}
		if exists {
			delete(missingTypes, name)
		}
	}
	if len(missingTypes) == 0 {
		return nil
	}
	return retryUntilReady(ctx, func() error {
		_, err := c.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
			Namespace: namespace, SearchAttributes: missingTypes,
		})
		return err
	})
}

// awaitSearchAttributes returns when list filters can use every search attribute.
func awaitSearchAttributes(ctx context.Context, c workflowservice.WorkflowServiceClient, o Options) error {
	for _, name := range jsonval.SortedKeys(o.SearchAttributes) {
		err := retryUntilReady(ctx, func() error {
			_, err := c.CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{
				Namespace: namespace, Query: "`" + name + "` IS NOT NULL",
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
func retryUntilReady(ctx context.Context, attempt func() error) error {
	for {
		err := attempt()
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
