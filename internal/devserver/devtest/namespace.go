package devtest

import (
	"context"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
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

// AddNamespace makes a namespace with search attributes if it is missing, and returns when it can be used. With
// namespaces of their own, tests share a server without affecting each other.
func AddNamespace(ctx context.Context, address, name string, attributes map[string]enumspb.IndexedValueType) error {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("devtest: reach server %s: %w", address, err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	if err := addNamespace(ctx, conn, name, attributes); err != nil {
		return fmt.Errorf("devtest: add namespace %s to server %s: %w", name, address, err)
	}
	return nil
}

func addNamespace(ctx context.Context, conn *grpc.ClientConn, name string,
	attributes map[string]enumspb.IndexedValueType) error {
	workflows := workflowservice.NewWorkflowServiceClient(conn)
	_, err := workflows.RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour)})
	if err != nil && status.Code(err) != codes.AlreadyExists {
		return err
	}
	if err := retryUntilSuccess(ctx, func() error {
		_, err := operatorservice.NewOperatorServiceClient(conn).AddSearchAttributes(ctx,
			&operatorservice.AddSearchAttributesRequest{Namespace: name, SearchAttributes: attributes})
		return err
	}); err != nil {
		return err
	}
	query := strings.Join(jsonval.SortedKeys(attributes), " IS NULL AND ") + " IS NULL"
	return retryUntilSuccess(ctx, func() error {
		_, err := workflows.CountWorkflowExecutions(ctx,
			&workflowservice.CountWorkflowExecutionsRequest{Namespace: name, Query: query})
		return err
	})
}

// retryUntilSuccess calls ask until it returns no error. The parts of a server need a moment to learn of something new.
func retryUntilSuccess(ctx context.Context, attempt func() error) error {
	for {
		err := attempt()
		if err == nil {
			return nil
		}
		if ctxErr := pause.For(ctx, 20*time.Millisecond); ctxErr != nil {
			return fmt.Errorf("%w: %w", ctxErr, err)
		}
	}
}
