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

// Matter is what a decision on a Call of a Tool is about, as the person who signs it reads it.
type Matter struct {
	Tool    string
	About   string         // what the Call does, and for whom
	Instead string         // the title of the Tool of a replacing Call; empty: nothing is replaced
	Says    *readable.Fact // the value of the decision; nil: there is none
	Back    string         // the page that the person comes from
}

// SignPage asks a person to sign a decision.
type SignPage struct {
	Matter
	Claims  proof.Claims
	Reason  string
	Value   any    // the rest of the decision
	Options string // the options for the browser, as JSON
	Sealed  string
}

// question is a decision that waits for its signature.
type question struct {
	Who      string       `json:"w"`
	Decision api.Decision `json:"d"`
	About    string       `json:"a"`
	Payload  []byte       `json:"p"` // of the proof
}

const signUse = "sign"

// Ask shows the page on which the person signs a decision.
func (p *Pages) Ask(w http.ResponseWriter, r *http.Request, d api.Decision, matter Matter) error {
	who := access.From(r.Context())
	keys, err := p.usablePasskeys(r.Context(), who.Name, r.Header.Get("Origin"))
	if err != nil {
		return err
	}
	claims, err := p.API.Claims(r.Context(), d)
	if err != nil {
		return err
	}
	claims = keys[0].OwnClaims(claims)
	payload := claims.Encode()
	page := SignPage{Matter: matter, Claims: claims, Reason: d.Reason}
	page.Value, _ = jsonval.Decode(d.ValueJSON()) // nil: the decision has no value
	q := question{Who: who.Name, Decision: d, About: matter.About, Payload: payload}
	if page.Sealed, err = p.Sessions.Seal(signUse, q); err != nil {
		return err
	}
	page.Options = jsonval.EncodeToString(jsonval.ToJSONValue(jsonval.Object{
		"challenge": base64.RawURLEncoding.EncodeToString(passkey.Challenge(payload)), "rpId": keys[0].Passkey.RPID,
		"allowCredentials": credentials(keys), "userVerification": "required", "timeout": browserTimeoutMillis,
	}))
	return p.Show(w, r, "sign", "Sign your decision", page)
}

// answer is a browser's response for a signature.
type answer struct {
	ID       string          `json:"id"`
	Response json.RawMessage `json:"response"`
}

// Sign sends a decision with the proof that the passkey signed.
func (p *Pages) Sign(w http.ResponseWriter, r *http.Request) error {
	var q question
	if !p.Sessions.Unseal(signUse, r.PostForm.Get("sealed"), &q) || q.Who != access.From(r.Context()).Name {
		return api.Unprocessable("This page was made for another person or decision. Open the case again.")
	}
	if r.PostForm.Get("answer") == "" {
		return api.Unprocessable(needsScript)
	}
	var a answer
	err := json.Unmarshal([]byte(r.PostForm.Get("answer")), &a)
	var signed passkey.Assertion
	if err == nil {
		signed, err = passkey.ReadAssertion(a.Response)
	}
	if err != nil {
		return api.Unprocessable("The browser's answer cannot be read.")
	}
	algorithm := "ES256" // of most passkeys; a worker refuses an unlisted one anyway
	if keys, err := p.keys(r.Context()); err == nil && keys.Find(a.ID) != nil {
		algorithm = keys.Find(a.ID).Algorithm()
	}
	d := q.Decision
	d.Proof = passkey.Join(algorithm, a.ID, q.Payload, signed)
	return p.Tell(w, r, d.Kind, q.About, p.API.Decide(r.Context(), []api.Decision{d})[0])
}
