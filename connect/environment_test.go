package connect

import (
	"strings"
	"testing"
)

func TestASwitchOfTLSThatIsNeitherIsRefused(t *testing.T) {
	for _, name := range []string{"TEMPORAL_TLS", "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "maybe")
			if _, _, err := TemporalFromEnvironment(); err == nil ||
				!strings.Contains(err.Error(), name+` is "maybe"`) {
				t.Error(err)
			}
			t.Setenv(name, "TRUE")
			if _, set, err := TemporalFromEnvironment(); err != nil || !set {
				t.Errorf("set is %t: %v", set, err)
			}
		})
	}
}
