package connect

import (
	"strings"
	"testing"
)

func TestASwitchOfTLSThatIsNeitherIsRefused(t *testing.T) {
	for _, name := range []string{"TEMPORAL_TLS", "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "maybe")
			if _, _, err := TemporalOptionsFromEnvironment(); err == nil ||
				!strings.Contains(err.Error(), name+` is "maybe"`) {
				t.Error(err)
			}
			t.Setenv(name, "TRUE")
			if _, set, err := TemporalOptionsFromEnvironment(); err != nil || !set {
				t.Errorf("set is %t: %v", set, err)
			}
		})
	}
}

func TestAnAddressOrFileThatCannotBeMeantIsRefused(t *testing.T) {
	for name, values := range map[string][]string{
		"TEMPORAL_ADDRESS":     {"temporal.internal", "http://h:7233", "https://h", "::1"},
		"TEMPORAL_CONFIG_FILE": {"/no/such/temporal.toml"},
	} {
		for _, value := range values {
			t.Run(value, func(t *testing.T) {
				t.Setenv(name, value)
				if _, _, err := TemporalOptionsFromEnvironment(); err == nil || !strings.Contains(err.Error(), value) {
					t.Error(err)
				}
			})
		}
	}
	for _, value := range []string{"h:7233", "[::1]:7233", "dns:///h:7233"} {
		t.Setenv("TEMPORAL_ADDRESS", value)
		if o, _, err := TemporalOptionsFromEnvironment(); err != nil || o.HostPort != value {
			t.Errorf("%s: %q, %v", value, o.HostPort, err)
		}
	}
}
