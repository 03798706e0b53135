package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// composed is the Compose file as Compose itself reads it, with these variables and every profile.
func composed(t *testing.T, variables ...string) (*types.Project, error) {
	t.Helper()
	o, err := cli.NewProjectOptions([]string{"../../docker-compose.yml"}, cli.WithEnv(variables),
		cli.WithProfiles([]string{"*"}))
	if err != nil {
		t.Fatal(err)
	}
	return o.LoadProject(t.Context())
}

func TestComposeReadsItsFileAndEveryServiceHasTheRightsThatItNeeds(t *testing.T) {
	if _, err := composed(t); err == nil || !strings.Contains(err.Error(), "set it to a password of your own") {
		t.Errorf("without a password: %v", err)
	}
	project, err := composed(t, "POSTGRES_PASSWORD=p", "OPENAI_API_KEY=the key")
	if err != nil {
		t.Fatal(err)
	}
	ours := []string{"worker", "codec", "gateway", "starter"}
	for name, s := range project.Services {
		if !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s keeps rights: cap_drop %v, security_opt %v", name, s.CapDrop, s.SecurityOpt)
		}
		if own := slices.Contains(ours, name); own != s.ReadOnly || own && len(s.CapAdd) > 0 {
			t.Errorf("%s: read_only %t, cap_add %v", name, s.ReadOnly, s.CapAdd)
		}
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" {
				t.Errorf("%s: %s is open to %q", name, p.Published, p.HostIP)
			}
		}
		for variable, v := range s.Environment {
			if v != nil && *v == "the key" && name != "worker" {
				t.Errorf("%s has the LLM's key, in %s", name, variable)
			}
		}
	}
	for name, s := range project.Services {
		for other, d := range s.DependsOn {
			if d.Condition != types.ServiceConditionHealthy || other == "worker" { // its image says when it is
				continue
			}
			if of := project.Services[other]; of.HealthCheck == nil {
				t.Errorf("%s waits until %s is healthy, which it never says", name, other)
			}
		}
	}
}
