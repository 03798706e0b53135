package workflows_test

import (
	"fmt"
	"net/http"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// current makes a version the current one of the test's deployment, once a worker of it has been seen.
func (c *crash) current(build string) {
	c.t.Helper()
	eventually(c.t, "version "+build+" is current", func() bool {
		_, err := c.client.WorkerDeploymentClient().GetHandle(c.id).SetCurrentVersion(c.t.Context(),
			client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build})
		return err == nil
	})
}

// servedBy says which version a workflow was last served by, and how it is to be versioned.
func (c *crash) servedBy(id string) (build string, behavior enumspb.VersioningBehavior) {
	c.t.Helper()
	d, err := c.client.DescribeWorkflowExecution(c.t.Context(), id, "")
	if err != nil {
		c.t.Fatal(err)
	}
	v := d.GetWorkflowExecutionInfo().GetVersioningInfo()
	return v.GetDeploymentVersion().GetBuildId(), v.GetBehavior()
}

func TestAVersionedWorkerServesAProcessOnceItsVersionIsCurrentAndTheNextGoesOnWithIt(t *testing.T) {
	c := newCrash(t)
	release := make(chan struct{})
	url, seen := keyed("/"+c.id+"/go", func(w http.ResponseWriter, _ *http.Request, _ int) {
		<-release
		fmt.Fprint(w, `1`)
	})
	s := newScenario(t, `{"schema": {"tools": {"go": `+httpTool(url, "")+`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "go", "_outputPath": "a"}]}}`, `{"solution": {"calls": []}}`)
	run := c.start(s)
	first := c.production("--deployment", c.id, "--build-id", "1")
	c.current("1")
	eventually(t, "its Call runs", func() bool { return len(seen()) == 1 })
	for _, id := range []string{s.id, s.id + "/main"} {
		if build, behavior := c.servedBy(id); build != "1" || behavior != enumspb.VERSIONING_BEHAVIOR_AUTO_UPGRADE {
			t.Errorf("%s is served by %q, %v", id, build, behavior)
		}
	}
	c.production("--deployment", c.id, "--build-id", "2")
	c.current("2")
	stop(t, first)
	close(release)
	stopped(t, first)
	if r := c.finish(run); r.Calls.Done != 1 || seen()[s.id+"/main/1.1"] != 1 {
		t.Errorf("%+v after %v", r.Calls, seen())
	}
	for _, id := range []string{s.id, s.id + "/main"} {
		if build, _ := c.servedBy(id); build != "2" {
			t.Errorf("%s was served by %q to its end", id, build)
		}
	}
}
