package flags

import (
	"fmt"
	"regexp"
	"strings"

	"processidea/model/diag"
)

const variablePrefix = "PROCESSIDEA_"

// settingNames are all settings of the environment, without their prefix.
var settingNames = strings.Fields(`
	ACTIVITY_POLLERS BUILD_ID CACHED_WORKFLOWS CALLS_PER_SECOND CODEC_TOKEN DATA DECIDERS DEPLOYMENT DRAIN EAGER_CALLS
	GATE_HISTORIES GATE_IDEAS GATEWAY GATEWAY_BEYOND GATEWAY_HOSTS GATEWAY_KEY GATEWAY_ORIGINS GATEWAY_TOKEN
	GATEWAY_URL GROUPS HOOKS HTTP_ALLOW KEY KEYS LISTEN LLM_PATIENCE LLM_PAUSE LOG_FORMAT LOG_LEVEL LONG LOST_AFTER
	MAX_CALLS MAX_MEMORY_BYTES MAX_PURE_CALLS MAX_REQUESTS MAX_RESULT_BYTES MAX_WORKFLOW_TASKS MCP_APPROVALS
	MCP_COMMANDS MCP_IDEAS MEMORY_LIMIT_BYTES MONEY_A_DAY NOTIFY_FORMAT NOTIFY_LINK NOTIFY_SECRET NOTIFY_URL
	OIDC_AUDIENCE OIDC_CLIENT_ID OIDC_CLIENT_SECRET OIDC_GROUPS OIDC_ISSUER OIDC_NAME OIDC_SCOPES OIDC_UNVERIFIED PRICES
	ROLES SAVE_ACTIONS STORE STORE_CACHE_BYTES TOOL_SECRETS WORKFLOW_POLLERS`)

// kubernetesVariablePattern matches variables that Kubernetes sets for each Service: a Service may have this program's
// name.
var kubernetesVariablePattern = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT.*|PORT|PORT_[0-9].*)$`)

// MisspelledVariableHints lists the variables of an environment that resemble a setting but are none, with the setting
// probably meant.
func MisspelledVariableHints(environ []string) (list []string) {
	isKnown := map[string]bool{}
	for _, v := range settingNames {
		isKnown[v] = true
	}
	for _, line := range environ {
		variableName, _, _ := strings.Cut(line, "=")
		name, isOurs := strings.CutPrefix(variableName, variablePrefix)
		if !isOurs || isKnown[name] || strings.HasPrefix(name, "TEST_") || kubernetesVariablePattern.MatchString(name) {
			continue
		}
		if nearestName := diag.NearestName(name, settingNames); nearestName != "" {
			list = append(list, fmt.Sprintf("%s is no setting; did you mean %s%s?", variableName, variablePrefix,
				nearestName))
		}
	}
	return list
}
