// Package check holds the files of deploy against the code of those who read them. It is a module of its own, so that
// nobody else needs that code.
package check

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// kinds are the types of Kubernetes' own API, by apiVersion and kind.
var kinds = map[string]func() any{
	"apps/v1 Deployment":                 func() any { return &appsv1.Deployment{} },
	"networking.k8s.io/v1 NetworkPolicy": func() any { return &networkingv1.NetworkPolicy{} },
	"policy/v1 PodDisruptionBudget":      func() any { return &policyv1.PodDisruptionBudget{} },
	"v1 PersistentVolumeClaim":           func() any { return &corev1.PersistentVolumeClaim{} },
	"v1 Service":                         func() any { return &corev1.Service{} },

	"keda.sh/v1alpha1 ScaledObject":         func() any { return &scaledObject{} },
	"temporal.io/v1alpha1 Connection":       func() any { return &connection{} },
	"temporal.io/v1alpha1 WorkerDeployment": func() any { return &workerDeployment{} },
}

// Those of Temporal's worker controller (v1alpha1): what we use of them, since its code is not to be had as a module.
type connection struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		HostPort string `json:"hostPort"`
	} `json:"spec"`
}

type workerDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Replicas      *int32                 `json:"replicas"`
		Template      corev1.PodTemplateSpec `json:"template"`
		WorkerOptions struct {
			ConnectionRef     corev1.LocalObjectReference `json:"connectionRef"`
			TemporalNamespace string                      `json:"temporalNamespace"`
		} `json:"workerOptions"`
		Rollout struct {
			Strategy string `json:"strategy"`
			Gate     struct {
				WorkflowType string `json:"workflowType"`
			} `json:"gate"`
			Steps []struct {
				RampPercentage int             `json:"rampPercentage"`
				PauseDuration  metav1.Duration `json:"pauseDuration"`
			} `json:"steps"`
		} `json:"rollout"`
		Sunset struct {
			ScaledownDelay metav1.Duration `json:"scaledownDelay"`
			DeleteDelay    metav1.Duration `json:"deleteDelay"`
		} `json:"sunset"`
	} `json:"spec"`
}

// scaledObject is what we use of KEDA's, whose code brings all of its scalers.
type scaledObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ScaleTargetRef  corev1.LocalObjectReference `json:"scaleTargetRef"`
		MinReplicaCount int                         `json:"minReplicaCount"`
		MaxReplicaCount int                         `json:"maxReplicaCount"`
		PollingInterval int                         `json:"pollingInterval"`
		CooldownPeriod  int                         `json:"cooldownPeriod"`
		Triggers        []struct {
			Type     string            `json:"type"`
			Metadata map[string]string `json:"metadata"`
		} `json:"triggers"`
	} `json:"spec"`
}

func TestTheManifestsHaveTheFieldsThatKubernetesHas(t *testing.T) {
	files, err := filepath.Glob("../kubernetes/*.yaml")
	nested, _ := filepath.Glob("../kubernetes/*/*.yaml")
	if files = append(files, nested...); err != nil || len(files) != 4 {
		t.Fatalf("%q, %v", files, err)
	}
	deployments := map[string]*appsv1.Deployment{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var policies []*networkingv1.NetworkPolicy
		var budgets []*policyv1.PodDisruptionBudget
		var pods []corev1.PodTemplateSpec
		for n, document := range bytes.Split(data, []byte("\n---\n")) {
			var of metav1.TypeMeta
			if err := yaml.Unmarshal(document, &of); err != nil {
				t.Fatalf("%s, document %d: %v", file, n+1, err)
			}
			made := kinds[of.APIVersion+" "+of.Kind]
			if made == nil {
				t.Errorf("%s, document %d: nobody here knows %s %s", file, n+1, of.APIVersion, of.Kind)
				continue
			}
			object := made()
			if err := yaml.UnmarshalStrict(document, object); err != nil {
				t.Errorf("%s, document %d: %v", file, n+1, err)
			}
			switch d := object.(type) {
			case *networkingv1.NetworkPolicy:
				policies = append(policies, d)
			case *policyv1.PodDisruptionBudget:
				budgets = append(budgets, d)
			case *appsv1.Deployment:
				pods, deployments[d.Name] = append(pods, d.Spec.Template), d
				selects(t, file, d)
				mounts(t, file, d.Spec.Template.Spec)
			case *scaledObject:
				scales(t, file, d, deployments[d.Spec.ScaleTargetRef.Name])
			case *workerDeployment:
				pods = append(pods, d.Spec.Template)
				mounts(t, file, d.Spec.Template.Spec)
				if s := d.Spec.Rollout; s.Gate.WorkflowType != "Gate" || s.Strategy != "Progressive" ||
					len(s.Steps) == 0 {
					t.Errorf("%s: its rollout is %+v", file, s)
				}
			}
		}
		for _, pod := range pods {
			isFenced(t, file, pod, policies)
			if !slices.ContainsFunc(budgets, func(b *policyv1.PodDisruptionBudget) bool {
				return b.Spec.MinAvailable.IntValue() > 0 && maps.Equal(b.Spec.Selector.MatchLabels, pod.Labels)
			}) {
				t.Errorf("%s: nothing keeps one of the pods %v", file, pod.Labels)
			}
		}
	}
}

// scales checks that it is the backlog of a Deployment's own Temporal that says how many pods it has, two at least.
func scales(t *testing.T, file string, s *scaledObject, of *appsv1.Deployment) {
	t.Helper()
	if of == nil || s.Spec.MinReplicaCount < 2 || s.Spec.MaxReplicaCount < s.Spec.MinReplicaCount {
		t.Fatalf("%s: it scales %+v of %v", file, s.Spec, of)
	}
	env := map[string]string{}
	for _, e := range of.Spec.Template.Spec.Containers[0].Env {
		env[e.Name] = e.Value
	}
	for _, trigger := range s.Spec.Triggers {
		m := trigger.Metadata
		if trigger.Type != "temporal" || m["endpoint"] != env["TEMPORAL_ADDRESS"] ||
			m["namespace"] != env["TEMPORAL_NAMESPACE"] {
			t.Errorf("%s: it looks at %+v, and its workers at %v", file, trigger, env)
		}
	}
}

// isFenced checks that pods are reached at their own ports alone, from named places, and reach what is named, which is
// never where clouds keep credentials.
func isFenced(t *testing.T, file string, pod corev1.PodTemplateSpec, policies []*networkingv1.NetworkPolicy) {
	t.Helper()
	for _, p := range policies {
		selector, err := metav1.LabelSelectorAsSelector(&p.Spec.PodSelector)
		if err != nil || selector.Empty() || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if len(p.Spec.PolicyTypes) != 2 || len(p.Spec.Ingress) == 0 || len(p.Spec.Egress) == 0 {
			t.Errorf("%s: %s limits %v", file, p.Name, p.Spec.PolicyTypes)
		}
		for _, in := range p.Spec.Ingress {
			if len(in.From) == 0 || len(in.Ports) != 1 ||
				in.Ports[0].Port.IntVal != pod.Spec.Containers[0].Ports[0].ContainerPort {
				t.Errorf("%s: %s lets in %+v", file, p.Name, in)
			}
		}
		for _, out := range p.Spec.Egress {
			for _, to := range out.To {
				if to.IPBlock != nil && strings.HasPrefix(to.IPBlock.CIDR, "0.") &&
					!slices.Contains(to.IPBlock.Except, "169.254.0.0/16") || len(out.Ports) == 0 {
					t.Errorf("%s: %s lets out %+v", file, p.Name, out)
				}
			}
		}
		return
	}
	t.Errorf("%s: no NetworkPolicy selects the pods %v", file, pod.Labels)
}

// selects checks that a Deployment selects its own pods.
func selects(t *testing.T, file string, d *appsv1.Deployment) {
	t.Helper()
	selector, err := metav1.LabelSelectorAsMap(d.Spec.Selector)
	if err != nil || len(selector) == 0 {
		t.Errorf("%s: its selector is %v, %v", file, d.Spec.Selector, err)
	}
	for key, value := range selector {
		if d.Spec.Template.Labels[key] != value {
			t.Errorf("%s: its pods have no label %s=%s", file, key, value)
		}
	}
}

// mounts checks that every volume that is mounted is there.
func mounts(t *testing.T, file string, pod corev1.PodSpec) {
	t.Helper()
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	for _, c := range pod.Containers {
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s: %s mounts %s, which is no volume", file, c.Name, m.Name)
			}
		}
	}
}

func TestPrometheusTakesTheAlertRules(t *testing.T) {
	_, errs := rulefmt.ParseFile("../prometheus/rules.yaml", false, model.UTF8Validation,
		parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
}

// What Grafana puts into an expression before Prometheus sees it.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", "$llm", ".*", "$tool", ".*",
	"$job", ".*")

func TestPrometheusTakesTheExpressionsOfTheDashboard(t *testing.T) {
	data, err := os.ReadFile("../grafana/workers.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	ids, p := map[int]bool{}, parser.NewParser(parser.Options{})
	for _, panel := range dashboard.Panels {
		if ids[panel.ID] || panel.GridPos.X+panel.GridPos.W > 24 || panel.GridPos.W < 1 || panel.GridPos.H < 1 {
			t.Errorf("%s has the id %d and stands at %+v", panel.Title, panel.ID, panel.GridPos)
		}
		ids[panel.ID] = true
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("%s shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			if _, err := p.ParseExpr(variables.Replace(target.Expr)); err != nil {
				t.Errorf("%s: %v", panel.Title, err)
			}
		}
	}
	if len(ids) < 10 {
		t.Errorf("there are %d panels", len(ids))
	}
}
