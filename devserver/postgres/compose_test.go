package postgres

import (
	"os"
	"regexp"
	"testing"

	"go.temporal.io/server/common/dynamicconfig"
	"go.yaml.in/yaml/v3"
)

// root is the folder of docker-compose.yml.
const root = "../.."

type compose struct {
	Services map[string]struct {
		Environment map[string]string `yaml:"environment"`
		Entrypoint  []string          `yaml:"entrypoint"`
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

var orDefault = regexp.MustCompile(`\$\{\w+:-([^}]*)\}`)

// environment gives a service's variables as they are where nobody sets any, with some replaced: what is a name or a port
// in the network of the containers is another here.
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

func TestTemporalKnowsEveryDynamicSettingOfTheComposeFile(t *testing.T) {
	data, err := os.ReadFile(root + "/deploy/dynamicconfig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if r := dynamicconfig.LoadYamlFile(data); len(r.Errors)+len(r.Warnings) > 0 || len(r.Map) < 5 {
		t.Errorf("%d settings: %v %v", len(r.Map), r.Errors, r.Warnings)
	}
}
