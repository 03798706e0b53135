package devserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"processidea/internal/devserver"
)

func TestOptionsThatCannotWorkAreErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		options devserver.Options
		want    string
	}{
		"no folder":         {devserver.Options{}, "devserver: check options: Dir is empty"},
		"folder is a file":  {devserver.Options{Dir: file}, "devserver: create folder " + file},
		"negative port":     {devserver.Options{Dir: t.TempDir(), Port: -1}, "devserver: check options: Port"},
		"port out of range": {devserver.Options{Dir: t.TempDir(), Port: 1 << 16}, "devserver: check port 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := devserver.Start(within(t), c.options)
			wantError(t, err, c.want)
		})
	}
}

func TestTheNamespaceKeepsWorkflowsForThirtyDays(t *testing.T) {
	ns, err := dial(t, start(t, devserver.Options{Dir: t.TempDir(), UIPort: -1})).WorkflowService().DescribeNamespace(
		within(t), &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
	if got := ns.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); err != nil || got != 30*24*time.Hour {
		t.Errorf("retention is %v, %v", got, err)
	}
}

func wantError(t *testing.T, err error, prefix string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), prefix) {
		t.Fatalf("error %v, want %q", err, prefix+"…")
	}
}
