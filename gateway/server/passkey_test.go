package server_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/gateway/server"
	"processidea/store/signing"
	"processidea/store/signing/passkey"
)

// withPasskeys serves a gateway that knows which keys count. list lists a passkey of ann for the pages of an origin.
func withPasskeys(t *testing.T) (set func(*server.Options), list func(origin string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "deciders.json")
	list = func(origin string) {
		public, _, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		entry := must(signing.PasskeyJWK(passkey.Registration{ID: "YW5u", PublicKey: public},
			must(passkey.SiteAt(origin)),
			"ann",
			[]string{"finance"}))
		if err := os.WriteFile(file, []byte(`{"keys": [`+string(entry)+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list("https://desk.example.com")
	return func(o *server.Options) { o.DeciderKeys = must(signing.Open(context.Background(), file)) }, list
}

func TestWhoHasAPasskeyMaySignAnyDecisionAndMayAlsoNot(t *testing.T) {
	set, _ := withPasskeys(t)
	h := open(t, set)
	id := h.pays(`{"values": {"order": "A1", "cents": 1}}`)
	b := h.browse()
	b.open("/desk/key").is(200).says("YW5u", "https://desk.example.com", "as one of finance", "127.0.0.1 is a number")
	p := b.open("/?process="+id).is(200).link("@").is(200).says("Approve, signed with my passkey",
		"Reject, signed with my passkey")
	// A person has a passkey at another address of the desk.
	asked := p.form("Approve")
	asked.set("reason", "as agreed").values.Set("sign", "approve")
	refused := asked.post(asked.address, asked.values).is(422).
		says("Your passkeys are for the desk at https://desk.example.com, and this is " + h.url)
	if got := refused.form("Approve").values.Get("reason"); got != "as agreed" {
		t.Errorf("the form has the reason %q", got)
	}
	h.waiting(id, 1)
	p.form("Approve").press("Approve").is(200).says("1 case is approved")
	if got := h.receipts(id); got != "Order A1: 1 cents" {
		t.Error(got)
	}
}

func TestAGatewayTakesWhatThePasskeySignedAndTheWorkerJudges(t *testing.T) {
	set, list := withPasskeys(t)
	h := open(t, set)
	named := strings.Replace(h.url, "127.0.0.1", "localhost", 1)
	list(named)
	id := h.pays(`{"values": {"order": "A1", "cents": 1}}`)
	h.url = named
	b := h.browse()
	for _, path := range []string{"/desk/sign", "/desk/key"} {
		for _, sealed := range []string{"", "AAAA"} {
			b.post(path, url.Values{"sealed": {sealed}, "answer": {"{}"}}).is(422)
		}
	}
	b.open("/desk/key").is(200).form("Make a passkey").press("Make a passkey").is(422).says("Passkeys need a script")
	made := b.open("/desk/key").form("Make a passkey").set("answer", `{"id": "x"}`)
	made.press("Make a passkey").is(422).says("what the browser gave is no passkey")

	asked := b.open("/?process="+id).is(200).link("@").is(200).form("Reject").set("reason", "not ours")
	asked.values.Set("sign", "reject")
	p := asked.post(asked.address, asked.values).is(200).says("This is what you sign", "reject", "not ours",
		"ann, as one of finance", id)
	p.form("Sign with").press("Sign with").is(422).says("Passkeys need a script")
	p.form("Sign with").set("answer", "{").press("Sign with").is(422).says("cannot be read")
	answer := `{"id": "YW5u", "response": {"authenticatorData": "AAAA", "clientDataJSON": "e30", "signature": "AAAA"}}`
	p.form("Sign with").set("answer", answer).press("Sign with").is(200).
		// at the worker of these tests
		says("Nothing was decided", "the key YW5u is not among those that may speak for people here")
	h.waiting(id, 1)
	// What was asked of one person is not another's to sign.
	p.form("Sign with").set("sealed", p.form("Sign with").values.Get("sealed")+"A").set("answer",
		answer).press("Sign with").is(422).says("was made for another person or decision")
}
