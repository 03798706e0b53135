package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/gateway/access"
	"processidea/model/jsonval"
	"processidea/tools/jq"
)

// The codes of webhooks that are refused.
const (
	CodeBadSignature = "bad-signature" // not signed with the rule's secret, or with a timestamp too old or too new
	CodeNoHook       = "not-found"
	CodeBadBody      = "invalid"
)

// MaxBodyBytes bounds the body of a webhook, in bytes. Standard Webhooks asks for less than 20 KB.
const MaxBodyBytes = 1 << 20

// queryLimits bound the work of each expression of a rule. A stranger chooses the numbers in a webhook, and must not
// choose the amount of work.
var queryLimits = jq.Limits{Timeout: 2 * time.Second, MaxValueBytes: 8 * MaxBodyBytes, MaxTotalBytes: 16 * MaxBodyBytes}

// Receive returns what a webhook starts, or nil if its rule starts nothing from it. The error is an *access.Refusal if
// the webhook is at fault. Before the signature is verified, no header is trusted and no part of the body is parsed.
func (r *Rules) Receive(ctx context.Context, ruleName string, header http.Header,
	body []byte) (*client.StartOptions, error) {
	var rule *rule
	if r != nil {
		rules, err := r.readRules()
		if err != nil {
			return nil, fmt.Errorf("hooks: read %s: %w", r.path, err)
		}
		rule = rules[ruleName]
	}
	if rule == nil {
		return nil, access.NewRefusal(http.StatusNotFound, CodeNoHook, "there is no rule for webhooks of this name")
	}
	if err := rule.verifySignature(header, body); err != nil {
		return nil, access.NewRefusal(http.StatusUnauthorized, CodeBadSignature, "the webhook is refused: %s",
			signatureErrorText(err))
	}
	o, err := rule.startOptions(ctx, body)
	if err != nil || o == nil {
		return nil, err
	}
	o.ID, o.StartedBy = processID(ruleName, header.Get(webhook.HeaderWebhookID)), "webhook "+ruleName
	return o, nil
}

func (r *rule) verifySignature(header http.Header, body []byte) (err error) {
	for _, key := range r.signatureKeys {
		if err = key.Verify(body, header); err == nil {
			return nil
		}
	}
	return err
}

// signatureErrorText returns the library's text for an error. If headers are missing, it names the headers of a signed
// webhook.
func signatureErrorText(err error) string {
	if errors.Is(err, webhook.ErrRequiredHeaders) {
		return fmt.Sprintf("it lacks %s, %s or %s, by which Standard Webhooks are signed", webhook.HeaderWebhookID,
			webhook.HeaderWebhookTimestamp, webhook.HeaderWebhookSignature)
	}
	for _, known := range []error{
		webhook.ErrInvalidHeaders, webhook.ErrNoMatchingSignature, webhook.ErrMessageTooOld,
		webhook.ErrMessageTooNew,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "it cannot be verified"
}

// plainWebhookIDPattern matches the webhook ids that are used unchanged in ids of processes.
var plainWebhookIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$`)

// processID returns the process id of a webhook. Two webhooks never share an id: the name of a rule contains no dot,
// and a plain id no ~.
func processID(ruleName, webhookID string) string {
	if !plainWebhookIDPattern.MatchString(webhookID) {
		webhookID = "~" + jsonval.Digest(webhookID)[:32]
	}
	return ruleName + "." + webhookID
}

// startOptions makes the options of a process from a body. It returns nil if the rule starts nothing from the body.
func (r *rule) startOptions(ctx context.Context, body []byte) (*client.StartOptions, error) {
	value, err := jsonval.Decode(bytes.TrimPrefix(body, []byte("\uFEFF")))
	if err != nil {
		return nil, refusalf("the body: %s", err)
	}
	if r.whenQuery != nil {
		whenResults, err := runQuery(ctx, r.whenQuery, value)
		if err != nil {
			return nil, refusalf("when: %s", err)
		}
		if len(whenResults) != 1 || whenResults[0] != true {
			return nil, nil
		}
	}
	d, err := r.loadIdea()
	if err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	o := &client.StartOptions{Idea: d.Idea, ScriptedReplies: d.RepliesText, DelegateFiles: d.DelegateFiles}
	if r.instanceQuery != nil {
		if o.InstanceRows, err = r.instanceRows(ctx, value); err != nil || len(o.InstanceRows) == 0 {
			return nil, err
		}
		return o, nil
	}
	inputResults, err := runQuery(ctx, r.inputQuery, value)
	if err != nil {
		return nil, refusalf("input: %s", err)
	}
	if len(inputResults) != 1 || jsonval.TypeOf(inputResults[0]) != "object" {
		return nil, refusalf("input: the rule's result for the body is not an object")
	}
	o.Idea = ideafiles.WithMessages(d.Idea, []any{jsonval.Object{"type": "input", "input": inputResults[0]}})
	return o, nil
}

// instanceRows returns the values from which the rule makes instances: its results, with lists flattened.
func (r *rule) instanceRows(ctx context.Context, body any) (rows []jsonval.Object, err error) {
	results, err := runQuery(ctx, r.instanceQuery, body)
	if err != nil {
		return nil, refusalf("instances: %s", err)
	}
	for _, result := range results {
		list, ok := result.([]any)
		if !ok {
			list = []any{result}
		}
		for _, one := range list {
			row, ok := one.(jsonval.Object)
			if !ok {
				return nil, refusalf("instances: the rule's result for the body is %s, not an object for each "+
					"instance",
					jsonval.TypeOf(one))
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func refusalf(format string, args ...any) error {
	return access.NewRefusal(http.StatusUnprocessableEntity, CodeBadBody, format, args...)
}

// runQuery gives the results of an expression, as JSON values of the engine.
func runQuery(ctx context.Context, q *jq.Query, body any) ([]any, error) {
	results, err := q.Run(ctx, body, maxQueryResults+1)
	if err == nil && len(results) > maxQueryResults {
		err = fmt.Errorf("it has over %d results", maxQueryResults)
	}
	return results, err
}

const maxQueryResults = 10_000
