package postgres

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"processidea/connect"
)

// setUp runs the script that makes the databases, with Temporal's own tool.
func setUp(t *testing.T, c compose, temporal string, here map[string]string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(temporal, filepath.Join(bin, "temporal-sql-tool")); err != nil {
		t.Fatal(err)
	}
	// The entrypoint names the script where it is mounted.
	at := c.Services["temporal-schema"].Entrypoint
	run := exec.CommandContext(t.Context(), at[0], root+at[1])
	run.Env = append(os.Environ(),
		append(c.environment(t, "temporal-schema", here), "PATH="+bin+":"+os.Getenv("PATH"))...)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// startTemporal runs Temporal on the database, as a program of its own, and gives its address.
func startTemporal(t *testing.T, c compose, temporal string, here map[string]string) (address string) {
	t.Helper()
	env, ports := serverEnvironment(t, c, here)
	server := exec.Command(temporal)
	server.Env = env
	start(t, server, nil, syscall.SIGTERM)
	return "127.0.0.1:" + ports["frontend"]
}

// serverEnvironment gives the variables of a server of docker-compose.yml on free ports of this machine, and the port of
// each of its services.
func serverEnvironment(t *testing.T, c compose, here map[string]string) (env []string, ports map[string]string) {
	t.Helper()
	deploy, err := filepath.Abs(root + "/deploy")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"BIND_ON_IP": "127.0.0.1", "LOG_LEVEL": "warn",
		"DYNAMIC_CONFIG_FILE_PATH": deploy + "/" +
			filepath.Base(c.Services["temporal"].Environment["DYNAMIC_CONFIG_FILE_PATH"])}
	maps.Copy(all, here)
	ports = map[string]string{}
	for _, service := range []string{"frontend", "history", "matching", "worker"} {
		ports[service] = freePort(t)
		all[strings.ToUpper(service)+"_GRPC_PORT"] = ports[service]
		all[strings.ToUpper(service)+"_MEMBERSHIP_PORT"] = freePort(t)
	}
	all["FRONTEND_HTTP_PORT"] = freePort(t)
	return append(os.Environ(), c.environment(t, "temporal", all)...), ports
}

// prepare does over the wire what deploy/namespace.sh does with Temporal's command line.
func prepare(t *testing.T, address, namespace string) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	await(t, "the namespace can be made", func(ctx context.Context) error {
		_, err := workflowservice.NewWorkflowServiceClient(conn).RegisterNamespace(ctx,
			&workflowservice.RegisterNamespaceRequest{
				Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour)})
		if status.Code(err) == codes.AlreadyExists { // and the answer to that was lost
			return nil
		}
		return err
	})
	await(t, "the search attributes can be made", func(ctx context.Context) error {
		_, err := operatorservice.NewOperatorServiceClient(conn).AddSearchAttributes(ctx,
			&operatorservice.AddSearchAttributesRequest{
				Namespace: namespace, SearchAttributes: connect.SearchAttributeTypes})
		return err
	})
	await(t, "the search attributes can be used", func(ctx context.Context) error {
		_, err := workflowservice.NewWorkflowServiceClient(conn).CountWorkflowExecutions(ctx,
			&workflowservice.CountWorkflowExecutionsRequest{
				Namespace: namespace,
				Query:     "IdeaStatus IS NOT NULL AND IdeaPath IS NOT NULL AND IdeaAwaiting IS NOT NULL"})
		return err
	})
}
