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
		"short retention": {devserver.Options{Dir: t.TempDir(), Retention: time.Minute},
			"devserver: check options: Retention"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := devserver.Start(within(t), c.options)
			wantError(t, err, c.want)
		})
	}
}

func TestTheNamespaceKeepsWorkflowsAsLongAsAsked(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ ask, want time.Duration }{
		{0, 30 * 24 * time.Hour},
		{48 * time.Hour, 48 * time.Hour},
	} {
		s := start(t, devserver.Options{Dir: dir, UIPort: -1, Namespace: "mine", Retention: c.ask})
		client := dial(t, s)
		ns, err := client.WorkflowService().DescribeNamespace(within(t),
			&workflowservice.DescribeNamespaceRequest{Namespace: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		if got := ns.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); got != c.want {
			t.Errorf("retention is %v, want %v", got, c.want)
		}
		s.Stop()
	}
}

func wantError(t *testing.T, err error, prefix string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), prefix) {
		t.Fatalf("error %v, want %q", err, prefix+"…")
	}
}
