package ownkey

import (
	"encoding/base64"
	"encoding/json"
	"net/http"

	"processidea/client/readable"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/model/approval/proof"
	"processidea/model/jsonval"
	"processidea/store/signing/passkey"
)

// DecisionSubject is what a decision on a Call of a Tool is about, as the person who signs it reads it.
type DecisionSubject struct {
	Tool            string
	ProcessTitle    string         // what people call the process; empty: unknown
	Caption         string         // what the Call does, and for whom
	ReplacementTool string         // the title of the Tool of a replacing Call; empty: nothing is replaced
	ValueFact       *readable.Fact // the value of the decision; nil: there is none
	BackHref        string         // the page that the person comes from
}

// SignPage asks a person to sign a decision.
type SignPage struct {
	DecisionSubject
	Claims      proof.Claims
	Reason      string
	Value       any    // the rest of the decision
	Options     string // the options for the browser, as JSON
	SealedState string
}

// pendingSignature is a decision that waits for its signature.
type pendingSignature struct {
	User         string       `json:"w"`
	Decision     api.Decision `json:"d"`
	Caption      string       `json:"a"`
	BackHref     string       `json:"b"` // the inbox that led to the decision
	ProofPayload []byte       `json:"p"` // of the proof
}

const signSealPurpose = "sign"

// AskForSignature shows the page on which the person signs a decision.
func (p *Pages) AskForSignature(w http.ResponseWriter, r *http.Request, d api.Decision, subject DecisionSubject) error {
	person := access.PersonFrom(r.Context())
	keys, err := p.usablePasskeys(r.Context(), person.Name, r.Header.Get("Origin"))
	if err != nil {
		return err
	}
	claims, err := p.API.DecisionClaims(r.Context(), d)
	if err != nil {
		return err
	}
	claims = keys[0].WithOwnerClaims(claims)
	payload := claims.Encode()
	page := SignPage{DecisionSubject: subject, Claims: claims, Reason: d.Reason}
	page.Value, _ = jsonval.Decode(d.ValueJSON()) // nil: the decision has no value
	pending := pendingSignature{User: person.Name, Decision: d, Caption: subject.Caption,
		BackHref: r.FormValue("back"), ProofPayload: payload}
	if page.SealedState, err = p.Sessions.Seal(signSealPurpose, pending); err != nil {
		return err
	}
	page.Options = jsonval.EncodeToString(jsonval.ToJSONValue(jsonval.Object{
		"challenge": base64.RawURLEncoding.EncodeToString(passkey.Challenge(payload)), "rpId": keys[0].Passkey.RPID,
		"allowCredentials": credentials(keys), "userVerification": "required", "timeout": browserTimeoutMillis,
	}))
	return p.ShowPage(w, r, "sign", "Sign your decision", page)
}

// browserAnswer is a browser's response for a signature.
type browserAnswer struct {
	CredentialID string          `json:"id"`
	Response     json.RawMessage `json:"response"`
}

// Sign sends a decision with the proof that the passkey signed.
func (p *Pages) Sign(w http.ResponseWriter, r *http.Request) error {
	var pending pendingSignature
	if !p.Sessions.Unseal(signSealPurpose, r.PostForm.Get("sealed"), &pending) ||
		pending.User != access.PersonFrom(r.Context()).Name {
		return api.Unprocessable("This page was made for another person or decision. Open the case again.")
	}
	if r.PostForm.Get("answer") == "" {
		return api.Unprocessable(scriptNeededMessage)
	}
	var answer browserAnswer
	err := json.Unmarshal([]byte(r.PostForm.Get("answer")), &answer)
	var assertion passkey.Assertion
	if err == nil {
		assertion, err = passkey.ReadAssertion(answer.Response)
	}
	if err != nil {
		return api.Unprocessable("The browser's answer cannot be read.")
	}
	algorithm := "ES256" // of most passkeys; a worker refuses an unlisted one anyway
	if keys, err := p.deciderKeys(r.Context()); err == nil && keys.Find(answer.CredentialID) != nil {
		algorithm = keys.Find(answer.CredentialID).Algorithm()
	}
	d := pending.Decision
	d.Proof = passkey.JoinProof(algorithm, answer.CredentialID, pending.ProofPayload, assertion)
	return p.ShowOutcome(w, r, d.Kind, pending.Caption, pending.BackHref,
		p.API.Decide(r.Context(), []api.Decision{d})[0])
}
