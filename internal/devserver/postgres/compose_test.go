package postgres

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/server/common/dynamicconfig"
	"go.yaml.in/yaml/v3"
)

// root is the folder of docker-compose.yml.
const root = "../../.."

type compose struct {
	Services map[string]struct {
		Image       string            `yaml:"image"`
		Build       any               `yaml:"build"`
		EnvFile     []any             `yaml:"env_file"`
		Environment map[string]string `yaml:"environment"`
		Entrypoint  []string          `yaml:"entrypoint"`
		Networks    []string          `yaml:"networks"`
		Ports       []string          `yaml:"ports"`
		ReadOnly    bool              `yaml:"read_only"`
		CapDrop     []string          `yaml:"cap_drop"`
		SecurityOpt []string          `yaml:"security_opt"`
	} `yaml:"services"`
}

func readCompose(t *testing.T) (c compose) {
	t.Helper()
	data, err := os.ReadFile(root + "/docker-compose.yml")
	if err == nil {
		err = yaml.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var orDefault = regexp.MustCompile(`\$\{\w+:[-?]([^}]*)\}`)

// environment gives a service's variables as they are where nobody sets any, with some replaced: what is a name or a
// port in the network of the containers is another here.
func (c compose) environment(t *testing.T, service string, replace map[string]string) (env []string) {
	t.Helper()
	if len(c.Services[service].Environment) == 0 {
		t.Fatalf("docker-compose.yml has no service %s", service)
	}
	for name, value := range c.Services[service].Environment {
		if _, replaced := replace[name]; !replaced {
			env = append(env, name+"="+orDefault.ReplaceAllString(value, "$1"))
		}
	}
	for name, value := range replace {
		env = append(env, name+"="+value)
	}
	return env
}

// familyOfSettings is what docs/settings.md names with an ellipsis, or another project's documents do.
var familyOfSettings = regexp.MustCompile(`^(PROCESSIDEA_NOTIFY|TEMPORAL|OTEL)_`)

// What starter and worker are given are settings that the documents name, each under its own name; and no image is one
// that changes.
func TestTheComposeFilePassesSettingsThatTheWorkerReadsAndPinsItsImages(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(root + "/docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	c := readCompose(t)
	for _, service := range []string{"worker", "codec", "starter"} {
		for name, value := range c.Services[service].Environment {
			abbreviated := familyOfSettings.MatchString(name)
			if !abbreviated && !strings.Contains(string(doc), "`"+name+"`") {
				t.Errorf("%s is given %s, which docs/settings.md does not name", service, name)
			}
			if from := regexp.MustCompile(`^\$\{(\w+)`).FindStringSubmatch(value); from != nil && from[1] != name {
				t.Errorf("%s is given %s from %s", service, name, from[1])
			}
		}
	}
	for name, s := range c.Services {
		if pinned := regexp.MustCompile(`:\d+\.\d+(\.\d+)?$`); s.Build == nil &&
			!pinned.MatchString(orDefault.ReplaceAllString(s.Image, "$1")) {
			t.Errorf("the image of %s has no exact version: %s", name, s.Image)
		}
	}
	for _, name := range []string{"OPENAI_RPM", "PROCESSIDEA_DECIDERS", "PROCESSIDEA_MCP_COMMANDS",
		"PROCESSIDEA_NOTIFY_LINK", "PROCESSIDEA_TOOL_SECRETS"} {
		if _, given := c.Services["worker"].Environment[name]; !given {
			t.Errorf("the worker is not given %s", name)
		}
	}
	if len(c.Services["worker"].EnvFile) == 0 ||
		c.Services["temporal-ui"].Environment["TEMPORAL_CODEC_ENDPOINT"] == "" {
		t.Error("secrets for tools have no file, or the UI has no codec server")
	}
}

// No container has more than it needs: no right of root, no file to write to in our own images, no secret of another,
// and no port beyond this machine.
func TestEveryContainerHasNoMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	for name, s := range readCompose(t).Services {
		if !slices.Contains(s.CapDrop, "ALL") || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s keeps rights of root: %v %v", name, s.CapDrop, s.SecurityOpt)
		}
		if s.Build != nil && !s.ReadOnly {
			t.Errorf("%s may write to its image", name)
		}
		for variable, value := range s.Environment {
			if strings.HasPrefix(variable, "OPENAI_") && name != "worker" {
				t.Errorf("%s is given %s, and asks no LLM", name, variable)
			}
			secret := regexp.MustCompile(`(PASSWORD|PWD|SECRET|TOKEN|KEYS?)$`).MatchString(variable)
			if secret && !regexp.MustCompile(`^\$\{\w+:(-|\?[^}]+)\}$`).MatchString(value) {
				t.Errorf("%s has a %s that everybody knows: %s", name, variable, value)
			}
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s is open beyond this machine: %s", name, port)
			}
		}
		if alone := slices.Equal(s.Networks, []string{"codec"}); alone != (name == "codec") {
			t.Errorf("%s is in the networks %v: what serves payloads without a token is in one of its own",
				name, s.Networks)
		}
	}
}

func TestTemporalKnowsEveryDynamicSettingOfTheComposeFile(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(root + "/deploy/dynamicconfig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if r := dynamicconfig.LoadYamlFile(data); len(r.Errors)+len(r.Warnings) > 0 || len(r.Map) < 5 {
		t.Errorf("%d settings: %v %v", len(r.Map), r.Errors, r.Warnings)
	}
}
