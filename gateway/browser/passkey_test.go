package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"processidea/gateway/access"
	"processidea/gateway/access/issuertest"
	"processidea/gateway/server"
	"processidea/store/chain"
	"processidea/store/signing"
)

// trusted is the file with the keys that the worker trusts.
var trusted string

// trustNobody makes that file, and gives where the worker reads it.
func trustNobody(dir string) (*signing.KeySource, error) {
	trusted = filepath.Join(dir, "deciders.json")
	if err := os.WriteFile(trusted, []byte(`{"keys": []}`), 0o600); err != nil {
		return nil, err
	}
	return signing.Open(context.Background(), trusted)
}

// trust adds entries to those that the worker trusts, as whoever looks after the file does.
func trust(t *testing.T, entries ...string) {
	t.Helper()
	var file struct {
		Keys []json.RawMessage `json:"keys"`
	}
	data, err := os.ReadFile(trusted)
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	for _, e := range entries {
		file.Keys = append(file.Keys, json.RawMessage(e))
	}
	if err == nil {
		data, err = json.Marshal(file)
	}
	if err == nil {
		err = os.WriteFile(trusted, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// withPasskeys has people log in at an issuer, and reach the desk by a name, as browsers want it of passkeys.
func withPasskeys(t *testing.T, i *issuertest.Issuer) func(*server.Options, string) {
	t.Helper()
	roles := filepath.Join(t.TempDir(), "roles.json")
	if err := os.WriteFile(roles, []byte(`{"roles": [{"may": ["look", "decide"], "groups": ["finance"]}]}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ann", "bob"} {
		i.People[name] = issuertest.Claims{"email": name + "@example.com", "email_verified": true,
			"groups": []string{"finance"}}
	}
	return func(o *server.Options, url string) {
		named := strings.Replace(url, "127.0.0.1", "localhost", 1)
		env := map[string]string{
			server.IssuerVariable: i.URL, server.AudienceVariable: "process-idea", server.RolesVariable: roles,
			server.GatewayURLVariable: named,
			server.ClientIDVariable:   issuertest.ClientID, server.ClientSecretVariable: issuertest.ClientSecret,
			signing.DecidersVariable: trusted,
		}
		made, err := server.FromEnvironment("127.0.0.1:0", access.Person{},
			func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		i.ClientRedirectURL = named + access.CallbackPath
		o.Guard, o.DeciderKeys = made.Guard, made.DeciderKeys
	}
}

// signedPayments is payments that people of finance must sign.
func signedPayments(id string, rows ...string) map[string]any {
	start := payments(id, rows...)
	start["idea"] = json.RawMessage(strings.Replace(string(start["idea"].(json.RawMessage)), `"onTimeout": "reject"}`,
		`"onTimeout": "reject", "proof": "signed", "by": {"groups": ["finance"]}}`, 1))
	return start
}

// call has Chromium do what its developer tools can.
func call[P, R any](t *tab, command cdp.Command[P, R], params P) R {
	t.Helper()
	answer, err := chromedp.Call(t.page.(*chromiumPage).ctx, command, params)
	t.did(err)
	return answer
}

// device is one that keeps passkeys in a tab.
func (t *tab) device() webauthn.AuthenticatorID {
	t.Helper()
	call(t, webauthn.Enable, webauthn.EnableParams{})
	return call(t, webauthn.AddVirtualAuthenticator,
		webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true,
			IsUserVerified: true, AutomaticPresenceSimulation: true,
		}}).AuthenticatorID
}

// named has a stranger reach the desk by its name, and log in.
func (h *house) named(person string) *tab {
	h.Helper()
	b := h.stranger()
	b.url = strings.Replace(h.url, "127.0.0.1", "localhost", 1)
	b.enters(person)
	return b
}

// makesPasskey has the person make one, and gives its entry.
func (t *tab) makesPasskey() (entry string) {
	t.Helper()
	t.open("/")
	t.press("//nav//a[contains(., 'Your key')]")
	t.press(button("Make a passkey"))
	t.says("Your device has a passkey for this desk")
	t.click(summary("For operators"))
	t.says("starter keys add passkey.json --deciders deciders.json")
	return js[string](t, `document.getElementById("key").textContent`)
}

func TestAPersonSignsDecisionsWithAPasskeyAndAnybodyChecksThem(t *testing.T) {
	starter := open(t)
	id := strings.NewReplacer("/", "-").Replace(t.Name())
	starter.begin(signedPayments(id, row("A1", 1), row("A2", 2), row("A3", 3), row("A4", 4)), 4)
	i := issuertest.Start(t)
	h := open(t, withPasskeys(t, i))
	b := h.named("ann")
	b.open("/?process=" + id)
	b.says("4 cases wait for other people")
	b.open("/?who=all&process=" + id + "&text=A1")
	b.press("//tbody//th//a")
	b.says("it needs a signed decision, but this one has no proof", "You can sign decisions with a passkey")

	b.device()
	trust(t, b.makesPasskey())
	b.open("/desk/key")
	b.says("Your passkeys", "for "+b.url+", as one of finance")
	b.click(button("Make a passkey"))
	eventually(t, "a device that has one makes no other",
		func() bool { return strings.Contains(b.text(), "This device has a passkey of yours already") })

	b.open("/?process=" + id)
	b.says("4 cases wait for you", "Open it: you sign it with your passkey")
	b.lacks("Approve selected")
	b.signs(id, "A1", "Approve", func() {})
	b.says("1 case is approved")
	b.signs(id, "A2", "Reject", func() { b.write("#reason", "not ours <b>") })
	b.says("1 case is rejected")
	b.signs(id, "A3", "Change it", func() {
		b.click(summary("Change it"))
		b.write(`//*[@id="p/values/cents"]`, "33")
	})
	b.says("1 case is changed")
	b.signs(id, "A3", "Approve", func() {})
	b.says("1 case is approved")
	b.signs(id, "A4", "Give this result", func() {
		b.click(summary("Enter the result"))
		b.choose("answer-is", "json")
		b.write("#answer-text", "null")
	})
	b.says("1 case is answered")
	if got := starter.receipts(id); got != "Order A1: 1 cents; <nil>; Order A3: 33 cents; <nil>" {
		t.Error(got)
	}
	checkOffline(t, id, 5)
}

// signs decides on the Call of an order with a passkey. say fills in the form.
func (t *tab) signs(id, order, decision string, say func()) {
	t.Helper()
	t.show(id, order)
	say()
	t.press(button(decision + ", signed with my passkey"))
	t.says("This is what you sign", "Nothing is decided yet", "ann@example.com, as one of finance")
	t.press(button("Sign with my passkey"))
}

// checkInPython checks it by the program of the documents, without our code.
func checkInPython(t *testing.T, export []byte, signed int) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil || exec.CommandContext(t.Context(), python, "-c", "import cryptography").Run() != nil {
		t.Log("there is no python3 with cryptography: its program was not tried")
		return
	}
	check := func(export []byte) string {
		c := exec.CommandContext(t.Context(), python, "../../docs/check_proofs.py", trusted)
		c.Stdin = bytes.NewReader(export)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if out := check(export); strings.Count(out, " good\n") != signed || strings.Contains(out, "BROKEN") {
		t.Error(out)
	}
	if out := check(bytes.ReplaceAll(export, []byte(`"reason":"not ours`),
		[]byte(`"reason":"not mine`))); !strings.Contains(out, "BROKEN: details") {
		t.Error(out)
	}
	const site = `"rpId":"localhost"`
	data, err := os.ReadFile(trusted)
	if err != nil || !bytes.Contains(data, []byte(site)) {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "deciders.json")
	if err := os.WriteFile(elsewhere, bytes.ReplaceAll(data, []byte(site), []byte(`"rpId":"evil"`)),
		0o600); err != nil {
		t.Fatal(err)
	}
	defer func(was string) { trusted = was }(trusted)
	if trusted = elsewhere; !strings.Contains(check(export), "BROKEN: rpId") {
		t.Error("a passkey of another site counts")
	}
}

// checkOffline checks an export of a process with the keys alone.
func checkOffline(t *testing.T, id string, signed int) {
	t.Helper()
	var export bytes.Buffer
	if err := engineOn.Chain(id).Export(t.Context(), &export); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(trusted)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := signing.ParseKeys(data)
	if err != nil {
		t.Fatal(err)
	}
	checkInPython(t, export.Bytes(), signed)
	report, err := chain.VerifyExport(&export, keys)
	if err != nil {
		t.Fatal(err)
	}
	if c := report.Decisions; !report.IsIntact || c.Signed != signed || c.Proven != signed || c.Declared != 0 {
		t.Errorf("%+v", report)
	}
}

func TestAPasskeyThatMayNotDecideIsRefusedAndSaysWhy(t *testing.T) {
	starter := open(t)
	id := strings.NewReplacer("/", "-").Replace(t.Name())
	starter.begin(signedPayments(id, row("A1", 1)), 1)
	i := issuertest.Start(t)
	h := open(t, withPasskeys(t, i))
	ann, bob := h.named("ann"), h.named("bob")
	ofAnn, ofBob := ann.device(), bob.device()
	trust(t, ann.makesPasskey(), bob.makesPasskey())
	bobs := call(bob, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: ofBob}).Credentials[0]
	asks := func() {
		ann.show(id, "A1")
		ann.press(button("Approve, signed with my passkey"))
	}
	bad := func(bits webauthn.SetResponseOverrideBitsParams) {
		bits.AuthenticatorID = ofAnn
		call(ann, webauthn.SetResponseOverrideBits, bits)
	}
	yes := true

	asks()
	bad(webauthn.SetResponseOverrideBitsParams{IsBogusSignature: &yes})
	ann.press(button("Sign with my passkey"))
	ann.says("Nothing was decided", "It was refused", "the passkey's signature does not match")

	asks()
	bad(webauthn.SetResponseOverrideBitsParams{IsBadUV: &yes})
	ann.press(button("Sign with my passkey"))
	ann.says("Nothing was decided", "the device did not find out who used the passkey")
	bad(webauthn.SetResponseOverrideBitsParams{})

	asks()
	call(ann, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: ofAnn})
	ann.click(button("Sign with my passkey"))
	eventually(t, "it is said that nothing was done",
		func() bool { return strings.Contains(ann.text(), "Nothing was done") })
	call(ann, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: ofAnn, IsUserVerified: true})

	// Bob's passkey in ann's device, on a page that was tampered with.
	asks()
	call(ann, webauthn.ClearCredentials, webauthn.ClearCredentialsParams{AuthenticatorID: ofAnn})
	// the type says things that this device does not know
	add := cdp.Command[map[string]any, cdp.Empty]{Method: webauthn.CommandAddCredential}
	call(ann, add, map[string]any{"authenticatorId": ofAnn, "credential": map[string]any{
		"credentialId": bobs.CredentialID, "isResidentCredential": true, "rpId": bobs.RpID,
		"privateKey": bobs.PrivateKey, "userHandle": bobs.UserHandle, "signCount": 9,
	}})
	ann.signsWithAll()
	ann.says("Nothing was decided", "is not one of the issuer ann@example.com")

	// A passkey of ann that is not listed.
	call(ann, webauthn.ClearCredentials, webauthn.ClearCredentialsParams{AuthenticatorID: ofAnn})
	listed, err := os.ReadFile(trusted)
	if err != nil {
		t.Fatal(err)
	}
	ann.open("/desk/key")
	ann.press(button("Make a passkey"))
	asks()
	ann.signsWithAll()
	ann.says("Nothing was decided", "is not among those that may speak for people here")
	if again, err := os.ReadFile(trusted); err != nil || !bytes.Equal(again, listed) {
		t.Error("the desk has changed the list of keys", err)
	}
	if got := starter.waiting(id); got != 1 {
		t.Errorf("%d Calls wait", got)
	}
}

// signsWithAll signs the decision that is shown with any passkey of the device.
func (t *tab) signsWithAll() {
	t.Helper()
	js[any](t, `(() => { const form = document.querySelector("form[data-passkey]"), o = JSON.parse(form.dataset.options);
		o.allowCredentials = []; form.dataset.options = JSON.stringify(o) })()`)
	t.press(button("Sign with my passkey"))
}

// waiting counts the Calls of a process that wait.
func (h *house) waiting(id string) int {
	h.Helper()
	_, answer := h.ask("GET", "/api/processes/"+id+"/approvals", nil)
	list, _ := answer["approvals"].([]any)
	return len(list)
}

func TestWherePasskeysCannotBeUsedThePageSaysSo(t *testing.T) {
	starter := open(t)
	id := strings.NewReplacer("/", "-").Replace(t.Name())
	starter.begin(signedPayments(id, row("A1", 1)), 1)
	i := issuertest.Start(t)
	h := open(t, withPasskeys(t, i))
	b := h.named("ann")
	b.device()
	trust(t, b.makesPasskey())
	source, _ := axeScript(t)
	b.inspect("the key", func() { b.open("/desk/key") }, source)
	b.inspect("what is signed", func() {
		b.show(id, "A1")
		b.press(button("Approve, signed with my passkey"))
	}, source)

	b.withoutScripts()
	b.open("/desk/key")
	b.says("Passkeys need a script")
	b.press(button("Make a passkey"))
	b.says("Passkeys need a script")
	b.show(id, "A1")
	b.says("Without one you cannot decide here")
	b.press(button("Approve, signed with my passkey"))
	b.says("Passkeys need a script")
	b.press(button("Sign with my passkey"))
	b.says("The browser sent no passkey")

	c := starter.browse()
	c.open("/desk/key")
	c.says("are not taken here yet", "Not at this address", "127.0.0.1 is a number", "localhost in place of")
}
