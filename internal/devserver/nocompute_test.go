package devserver_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	computepb "go.temporal.io/api/compute/v1"
	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/workflowservice/v1"

	"processidea/internal/devserver"
)

// replaced is the module that nocompute stands in for; writtenFor is the version that it was written for.
const (
	replaced   = "go.temporal.io/auto-scaled-workers"
	writtenFor = "v0.2.0-1.32.0.158.0"
)

func TestTheServerRequiresWhatNocomputeWasWrittenFor(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile(strings.TrimSpace(goList(t, "-m", "-f", "{{.GoMod}}", "go.temporal.io/server")))
	if err != nil {
		t.Fatal(err)
	}
	required := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(replaced) + ` (\S+)`).FindSubmatch(mod)
	if required == nil {
		t.Fatalf("Temporal's server requires %s no more: remove internal/devserver/nocompute and each replace by it",
			replaced)
	}
	if got := string(required[1]); got != writtenFor {
		t.Errorf(
			"Temporal's server requires %s %s, and nocompute was written for %s: see in the server's sources what it "+
				"asks of the module now, mend internal/devserver/nocompute, and write the version here", replaced,
			got, writtenFor)
	}
}

// Each module below this one that requires Temporal's server builds it without the clients of clouds.
func TestNoCloudIsLinkedThatStartsWorkers(t *testing.T) {
	t.Parallel()
	modules := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "go.mod" || d.IsDir() {
			return err
		}
		mod, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(mod), "go.temporal.io/server v") {
			modules++
			if !regexp.MustCompile(`(?m)^replace ` + replaced + ` => \S*devserver/nocompute$`).Match(mod) {
				t.Errorf("%s requires Temporal's server and does not replace %s by devserver/nocompute", path, replaced)
			}
		}
		return err
	})
	if err != nil || modules < 2 {
		t.Fatalf("%d modules, %v", modules, err)
	}
	cloud := regexp.MustCompile(`^k8s\.io/|^cloud\.google\.com/go/run/|/aws-sdk-go-v2/service/(ecs|lambda|bedrock)`)
	for linked := range strings.FieldsSeq(goList(t, "-deps", "processidea/internal/devserver", "processidea/starter")) {
		if cloud.MatchString(linked) {
			t.Error("the starter links", linked)
		}
	}
}

func goList(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.CommandContext(within(t), "go", append([]string{"list"}, args...)...)
	c.Stderr = t.Output()
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A version of a deployment lives without a compute configuration, and is refused one.
func TestVersionsOfADeploymentLiveWithoutCompute(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{Dir: t.TempDir()})
	api := dial(t, s).WorkflowService()
	ns, version := s.Namespace(), &deploymentpb.WorkerDeploymentVersion{DeploymentName: "shop", BuildId: "1"}
	group := &computepb.ComputeConfigScalingGroup{Provider: &computepb.ComputeProvider{Type: "aws-lambda"}}
	groups := map[string]*computepb.ComputeConfigScalingGroupUpdate{"all": {ScalingGroup: group}}

	_, err := api.CreateWorkerDeployment(within(t), &workflowservice.CreateWorkerDeploymentRequest{
		Namespace: ns, DeploymentName: version.DeploymentName, RequestId: "1",
	})
	works(t, "create a deployment", err)
	_, err = api.CreateWorkerDeploymentVersion(within(t), &workflowservice.CreateWorkerDeploymentVersionRequest{
		Namespace: ns, DeploymentVersion: version, RequestId: "2",
	})
	works(t, "create a version", err)
	told, err := api.DescribeWorkerDeploymentVersion(within(t), &workflowservice.DescribeWorkerDeploymentVersionRequest{
		Namespace: ns, DeploymentVersion: version,
	})
	works(t, "describe a version", err)
	if compute := told.GetWorkerDeploymentVersionInfo().GetComputeConfig(); compute != nil {
		t.Error(compute)
	}

	_, err = api.ValidateWorkerDeploymentVersionComputeConfig(within(t),
		&workflowservice.ValidateWorkerDeploymentVersionComputeConfigRequest{
			Namespace: ns, DeploymentVersion: version, ComputeConfigScalingGroups: groups,
		})
	isRefused(t, "validate", err)
	_, err = api.UpdateWorkerDeploymentVersionComputeConfig(within(t),
		&workflowservice.UpdateWorkerDeploymentVersionComputeConfigRequest{
			Namespace: ns, DeploymentVersion: version, ComputeConfigScalingGroups: groups, RequestId: "3",
		})
	isRefused(t, "update", err)
	_, err = api.CreateWorkerDeploymentVersion(within(t), &workflowservice.CreateWorkerDeploymentVersionRequest{
		Namespace: ns, RequestId: "4",
		DeploymentVersion: &deploymentpb.WorkerDeploymentVersion{DeploymentName: "shop", BuildId: "2"},
		ComputeConfig: &computepb.ComputeConfig{
			ScalingGroups: map[string]*computepb.ComputeConfigScalingGroup{"all": group},
		},
	})
	isRefused(t, "create", err)

	_, err = api.DeleteWorkerDeploymentVersion(within(t), &workflowservice.DeleteWorkerDeploymentVersionRequest{
		Namespace: ns, DeploymentVersion: version,
	})
	works(t, "delete a version", err)
}

func works(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func isRefused(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "without compute providers") {
		t.Errorf("%s: a compute configuration is not refused: %v", what, err)
	}
}
