// Package check holds the files of deploy against the code of those who read them. It is a module of its own, so that nobody else needs that code.
package check

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// kinds are the types of Kubernetes' own API, by apiVersion and kind.
var kinds = map[string]func() any{
	"apps/v1 Deployment":            func() any { return &appsv1.Deployment{} },
	"policy/v1 PodDisruptionBudget": func() any { return &policyv1.PodDisruptionBudget{} },
	"v1 PersistentVolumeClaim":      func() any { return &corev1.PersistentVolumeClaim{} },
	"v1 Service":                    func() any { return &corev1.Service{} },
}

func TestTheManifestsHaveTheFieldsThatKubernetesHas(t *testing.T) {
	files, err := filepath.Glob("../kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
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
			if d, ok := object.(*appsv1.Deployment); ok {
				fits(t, file, d)
			}
		}
	}
}

// fits checks what no type tells: that a Deployment selects its own pods, and that every volume that is mounted is there.
func fits(t *testing.T, file string, d *appsv1.Deployment) {
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
	volumes := map[string]bool{}
	for _, v := range d.Spec.Template.Spec.Volumes {
		volumes[v.Name] = true
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s: %s mounts %s, which is no volume", file, c.Name, m.Name)
			}
		}
	}
}

func TestPrometheusTakesTheAlertRules(t *testing.T) {
	_, errs := rulefmt.ParseFile("../prometheus/rules.yaml", false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
}

// What Grafana puts into an expression before Prometheus sees it.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", "$llm", ".*", "$tool", ".*", "$job", ".*")

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
