package hooks

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"processidea/client/ideafiles"
	"processidea/internal/rehearsal"
	"processidea/model/jsonval"
	"processidea/tools/jq"
	"processidea/tools/kinds"
)

// Rules are the rules of a file.
type Rules struct {
	path   string
	getenv func(string) string
}

// rule describes what a webhook starts.
type rule struct {
	ideaFile, repliesFile                string // files
	signatureKeys                        []*webhook.Webhook
	whenQuery, inputQuery, instanceQuery *jq.Query // a nil whenQuery is always true; one of the other two is nil
}

// Open reads a file of rules, and each Idea file that it names. The error describes the first fault.
func Open(file string, getenv func(string) string) (*Rules, error) {
	r := &Rules{file, getenv}
	ruleByName, err := r.readRules()
	for _, name := range jsonval.SortedKeys(ruleByName) {
		if err == nil {
			_, err = ruleByName[name].loadIdea()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("hooks: read %s: %w", file, err)
	}
	return r, nil
}

// hookNamePattern allows no dot: in a process's id, the first dot ends the rule's name.
var hookNamePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

func (r *Rules) readRules() (map[string]*rule, error) {
	data, err := os.ReadFile(r.path)
	if err != nil {
		return nil, err
	}
	v, err := jsonval.DecodeObject(data)
	if err != nil {
		return nil, err
	}
	hooks, ok := v["hooks"].(jsonval.Object)
	if !ok || len(v) != 1 {
		return nil, errors.New(`want {"hooks": {"NAME": {"idea", "secret", …}, …}}`)
	}
	ruleByName := map[string]*rule{}
	for name, v := range hooks {
		if !hookNamePattern.MatchString(name) {
			return nil, fmt.Errorf("hooks: a name has letters, digits, - and _, 64 at most, not %q", name)
		}
		if ruleByName[name], err = r.readRule(v); err != nil {
			return nil, fmt.Errorf("hooks.%s: %w", name, err)
		}
	}
	return ruleByName, nil
}

var ruleJSONKeys = []string{"idea", "secret", "when", "input", "instances", "replies"}

func (r *Rules) readRule(v any) (*rule, error) {
	m, ok := v.(jsonval.Object)
	if !ok {
		return nil, fmt.Errorf("want an object, not %s", jsonval.TypeOf(v))
	}
	textByKey := map[string]string{}
	for key, v := range m {
		text, ok := v.(string)
		if !slices.Contains(ruleJSONKeys, key) || !ok || text == "" {
			return nil, fmt.Errorf("unknown key %q; a rule has %s, each a text", key, strings.Join(ruleJSONKeys, ", "))
		}
		textByKey[key] = text
	}
	if textByKey["idea"] == "" {
		return nil, errors.New(`"idea" is missing: the Idea file, or its folder`)
	}
	if textByKey["input"] != "" && textByKey["instances"] != "" {
		return nil, errors.New(`"input" and "instances" exclude each other`)
	}
	out := &rule{ideaFile: r.resolvePath(textByKey["idea"]), repliesFile: r.resolvePath(textByKey["replies"])}
	if textByKey["input"] == "" && textByKey["instances"] == "" {
		textByKey["input"] = "."
	}
	for key, target := range map[string]**jq.Query{"when": &out.whenQuery, "input": &out.inputQuery,
		"instances": &out.instanceQuery} {
		if textByKey[key] == "" {
			continue
		}
		query, err := jq.Compile(textByKey[key], queryLimits)
		if err != nil {
			return nil, fmt.Errorf("%q is not a jq expression that a rule may have: %w", key, err)
		}
		*target = query
	}
	var err error
	out.signatureKeys, err = r.readSignatureKeys(textByKey["secret"])
	return out, err
}

// resolvePath resolves a file name in the rules against the folder of the file of rules.
func (r *Rules) resolvePath(file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(r.path), file)
}

const (
	environmentPrefix = "$env:"
	secretPrefix      = "whsec_"
)

// readSignatureKeys reads the secrets in an environment variable, separated by spaces. There are several while a secret
// is being replaced.
func (r *Rules) readSignatureKeys(reference string) (keys []*webhook.Webhook, err error) {
	name, ok := strings.CutPrefix(reference, environmentPrefix)
	if !ok || name == "" {
		return nil, errors.New(`"secret" must name a variable, $env:NAME: the file must not contain the secret ` +
			"itself")
	}
	for n, secret := range strings.Fields(r.getenv(name)) {
		encoded, ok := strings.CutPrefix(secret, secretPrefix)
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(raw) < 24 || len(raw) > 64 {
			return nil, fmt.Errorf("secret %d of %s must be %s and 24 to 64 bytes in base64", n+1, name,
				secretPrefix)
		}
		key, err := webhook.NewWebhookRaw(raw)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s is not set", name)
	}
	return keys, nil
}

// loadIdea reads the rule's Idea without instances: those come from the webhook.
func (r *rule) loadIdea() (*ideafiles.Definition, error) {
	source, err := ideafiles.Find(r.ideaFile, "", r.repliesFile)
	if err != nil {
		return nil, err
	}
	return ideafiles.LoadWithoutInstances(source, ToolsOfOtherWorkers())
}

// ToolsOfOtherWorkers describes the Tools of workers that run elsewhere: their kinds are known, but no Go functions.
func ToolsOfOtherWorkers() ideafiles.WorkerTools {
	return ideafiles.WorkerTools{Registry: kinds.NewKnownTools(nil, nil), CheckReplies: rehearsal.CountReplies,
		HasOtherWorkers: true}
}
