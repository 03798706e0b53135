package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"processidea/client"
	"processidea/gateway/hooks"
)

// signatureScheme names the security scheme of webhooks, whose signature authenticates the sender.
const signatureScheme = "webhookSignature"

func (a *API) addHookOperation() {
	op := asStartOperation(newPostOperation("webhooks", "receive-webhook", "/hooks/{name}",
		"Start a process from a webhook",
		"Starts a process by the rule of this name, from a webhook that is signed as Standard Webhooks says. 201: it "+
			"was started; 200: the webhook came before; 204: the rule starts nothing from it."), startedResponse)
	op.Responses["204"] = &huma.Response{Description: "The rule starts nothing from it"}
	op.Security = []map[string][]string{{signatureScheme: {}}}
	op.SkipValidateBody, op.MaxBodyBytes = true, hooks.MaxBodyBytes // the rule decides what the body must be
	addOperation(a, "", op, a.receiveHook)
	// The framework assumes text for a body that is not read as JSON.
	a.huma.OpenAPI().Paths["/hooks/{name}"].Post.RequestBody.Content["application/json"].Schema = &huma.Schema{
		Description: "what the rule reads"}
}

type hookInput struct {
	Name      string `path:"name" doc:"that of a rule"`
	WebhookID string `header:"webhook-id" doc:"the webhook's own; an id that comes twice starts once"`
	Timestamp string `header:"webhook-timestamp" doc:"seconds since 1970, of now"`
	Signature string `header:"webhook-signature" doc:"v1, a comma and the signature; several with spaces between"`
	// Svix sends webhooks for many programs and signs them in the same way, under header names of its own.
	SvixID        string `header:"svix-id" doc:"webhook-id, as Svix calls it"`
	SvixTimestamp string `header:"svix-timestamp" doc:"webhook-timestamp, as Svix calls it"`
	SvixSignature string `header:"svix-signature" doc:"webhook-signature, as Svix calls it"`
	RawBody       []byte `contentType:"application/json"`
}

type hookOutput struct {
	Status int
	Body   *Started
}

func (a *API) receiveHook(ctx context.Context, in *hookInput) (*hookOutput, error) {
	header := http.Header{}
	header.Set(webhook.HeaderWebhookID, cmp.Or(in.WebhookID, in.SvixID))
	header.Set(webhook.HeaderWebhookTimestamp, cmp.Or(in.Timestamp, in.SvixTimestamp))
	header.Set(webhook.HeaderWebhookSignature, cmp.Or(in.Signature, in.SvixSignature))
	o, err := a.Hooks.Receive(ctx, in.Name, header, in.RawBody)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return &hookOutput{Status: http.StatusNoContent}, nil
	}
	p, err := a.Client.Start(ctx, *o)
	var claimed *client.ClaimedIDError
	switch {
	case errors.Is(err, client.ErrIDInUse), errors.As(err, &claimed), err == nil && p.IsAttached():
		// A webhook with this id has started a process before. Since then the rule or the Idea file may have changed,
		// or Temporal may have forgotten the process.
		return &hookOutput{http.StatusOK, &Started{o.ID, true}}, nil
	case err != nil:
		return nil, err
	}
	a.NoteChange(p.ID())
	a.Log.Info("a webhook started a process", "hook", in.Name, "process", p.ID())
	return &hookOutput{http.StatusCreated, &Started{p.ID(), false}}, nil
}
