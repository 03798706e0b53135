package passkey_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"pgregory.net/rapid"

	"processidea/model/approval/proof"
	"processidea/model/jsonval"
	"processidea/store/signing"
	"processidea/store/signing/passkey"
)

const (
	site   = "desk.example.com"
	origin = "https://" + site
)

// device is a passkey of one person, and what its device and the browser say when it signs.
type device struct {
	secret crypto.Signer
	id     string
	person string

	flags byte // of the authenticator data: 1 a person was there, 4 the device knew who
	site  string
	page  map[string]any
}

// use changes what is said before a signature.
type use func(d *device, challenge *string)

func newDevice(t testing.TB, id, person string, secret crypto.Signer) *device {
	t.Helper()
	return &device{secret: secret, id: id, person: person, flags: 5, site: site,
		page: map[string]any{"type": "webauthn.get", "origin": origin, "crossOrigin": false}}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newEC() crypto.Signer { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

func here() *passkey.Site { return must(passkey.SiteAt(origin)) }

func (d *device) entry(t testing.TB, groups ...string) map[string]any {
	t.Helper()
	line, err := signing.PasskeyJWK(passkey.Registration{ID: d.id, PublicKey: d.secret.Public()}, here(), d.person,
		groups)
	if err != nil {
		t.Fatal(err)
	}
	return must(jsonval.DecodeObject(line))
}

// keys gives those of devices, and of other entries of a JWKS.
func keys(t testing.TB, entries ...any) *signing.Keys {
	t.Helper()
	k, err := signing.ParseKeys(jsonval.Encode(map[string]any{"keys": entries}))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func claims(person string, groups ...string) proof.Claims {
	return proof.Claims{
		Issuer: person, Subject: person, Groups: groups, IssuedAt: 1, ID: "1", ProcessID: "p", CallID: "1.1",
		ApprovalDigest: "d",
		DecisionKind:   "approve",
		DetailsDigest:  proof.DetailsDigest(nil),
	}
}

func text(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// authenticatorData is what a device says of a site.
func authenticatorData(site string, flags byte, more []byte) []byte {
	hash := sha256.Sum256([]byte(site))
	return append(append(hash[:], flags, 0, 0, 0, 7), more...)
}

// asserts has the device sign a payload, as a browser has it.
func (d device) asserts(payload []byte, changes ...use) passkey.Assertion {
	challenge := text(passkey.Challenge(payload))
	page := map[string]any{}
	for k, v := range d.page {
		page[k] = v
	}
	d.page = page
	for _, change := range changes {
		change(&d, &challenge)
	}
	d.page["challenge"] = challenge
	a := passkey.Assertion{AuthenticatorData: authenticatorData(d.site, d.flags, nil),
		ClientDataJSON: jsonval.Encode(d.page)}
	said := sha256.Sum256(a.ClientDataJSON)
	signed := append(bytes.Clone(a.AuthenticatorData), said[:]...)
	digest := sha256.Sum256(signed)
	if _, is := d.secret.(ed25519.PrivateKey); is {
		a.Signature = must(d.secret.Sign(rand.Reader, signed, crypto.Hash(0)))
	} else {
		a.Signature = must(d.secret.Sign(rand.Reader, digest[:], crypto.SHA256))
	}
	return a
}

func (d device) signs(c proof.Claims, changes ...use) string {
	return passkey.JoinProof("ES256", d.id, c.Encode(), d.asserts(c.Encode(), changes...))
}

func TestAPasskeyOfEveryKindThatCountsSigns(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]crypto.Signer{
		"ES256": newEC(), "EdDSA": must(func() (ed25519.PrivateKey, error) {
			_, k, err := ed25519.GenerateKey(rand.Reader)
			return k, err
		}()),
		"RS256": must(rsa.GenerateKey(rand.Reader, 2048)),
	} {
		d := newDevice(t, "Y3JlZA", "ann", secret)
		c := claims("ann", "finance")
		f := keys(t, d.entry(t, "finance")).Verify(passkey.JoinProof(name, d.id, c.Encode(), d.asserts(c.Encode())))
		if f.RefusalReason != "" || f.Claims.Subject != "ann" || f.Claims.Groups[0] != "finance" ||
			f.KeyThumbprint == "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestWhatIsWrongWithAPasskeysSignatureIsSaid(t *testing.T) {
	t.Parallel()
	ann, bob, thief := newDevice(t, "YW5u", "ann", newEC()), newDevice(t, "Ym9i", "bob", newEC()),
		newDevice(t, "YW5u", "ann", newEC())
	plain := must(signing.NewPersonKey("ann", []string{"finance"}))
	plainEntry := must(jsonval.DecodeObject(must(plain.PublicJWK())))
	known := keys(t, ann.entry(t, "finance"), bob.entry(t), plainEntry)
	c := claims("ann", "finance")
	says := func(key string, v any) use { return func(d *device, _ *string) { d.page[key] = v } }
	for _, one := range []struct{ name, jws, refused string }{
		{"as it is", ann.signs(c), ""},
		{"another challenge", ann.signs(c, func(_ *device, challenge *string) { *challenge = text([]byte("x")) }),
			"signed something else"},
		{"the challenge of another payload", ann.signs(c, func(_ *device, challenge *string) {
			*challenge = text(passkey.Challenge(claims("ann").Encode()))
		}), "signed something else"},
		{"making a passkey", ann.signs(c, says("type", "webauthn.create")), "not to sign"},
		{"another page", ann.signs(c, says("origin", "https://evil.example.com")),
			`used on a page of "https://evil.example.com"`},
		{"the page without TLS", ann.signs(c, says("origin", "http://"+site)), "only on those of"},
		{"the page on another port", ann.signs(c, says("origin", origin+":8443")), "only on those of"},
		{"a frame", ann.signs(c, says("crossOrigin", true)), "in a frame"},
		{"a frame in a page", ann.signs(c, says("topOrigin", "https://evil.example.com")), "in a frame"},
		{"another site", ann.signs(c, func(d *device, _ *string) { d.site = "example.com" }),
			"another site than " + site},
		{"nobody there", ann.signs(c, func(d *device, _ *string) { d.flags = 4 }), "anybody was there"},
		{"an unknown person", ann.signs(c, func(d *device, _ *string) { d.flags = 1 }), "who used the passkey"},
		{"another key under its id", thief.signs(c), "the passkey's signature does not match"},
		{"a key that is not listed", newDevice(t, "bmV3", "ann", newEC()).signs(c), "not among those"},
		{"another person's passkey", bob.signs(c), "is not one of the issuer ann"},
		{"another person's passkey as its own issuer",
			bob.signs(func() proof.Claims { c := c; c.Issuer = "bob"; return c }()), "may not speak for ann"},
		{"a group that the key does not have", ann.signs(claims("ann", "finance", "heads")),
			"may not say that ann is of heads"},
		{"a name that the key does not have", ann.signs(func() proof.Claims { c := c; c.Name = "bob"; return c }()),
			"may not call ann bob"},
		{"another algorithm", passkey.JoinProof("RS256", ann.id, c.Encode(), ann.asserts(c.Encode())), "is one for ES256"},
		{"a key that is no passkey", passkey.JoinProof("EdDSA", plain.ID, c.Encode(), ann.asserts(c.Encode())), "is not a passkey"},
		{"a payload that says nothing", passkey.JoinProof("ES256", ann.id, []byte("{}"), ann.asserts([]byte("{}"))),
			"the proof does not say"},
	} {
		f := known.Verify(one.jws)
		if (one.refused == "") != (f.RefusalReason == "") || !strings.Contains(f.RefusalReason, one.refused) {
			t.Errorf("%s: %q, want %q", one.name, f.RefusalReason, one.refused)
		}
	}
}

// A passkey signs a challenge that a page chooses. What it signed elsewhere is no plain JWS, and a plain JWS is nothing
// that it signed.
func TestAPasskeySignsInItsOwnWayAlone(t *testing.T) {
	t.Parallel()
	ann := newDevice(t, "YW5u", "ann", newEC())
	known := keys(t, ann.entry(t))
	parts := strings.Split(ann.signs(claims("ann")), ".")
	for name, jws := range map[string]string{
		"without its typ": text([]byte(`{"alg":"ES256","kid":"YW5u"}`)) + "." + parts[1] +
			"." + parts[2],
		"with another typ": text([]byte(`{"alg":"ES256","kid":"YW5u","typ":"JWT"}`)) + "." + parts[1] +
			"." + parts[2],
		"with a header in another order": text([]byte(`{"kid":"YW5u","alg":"ES256","typ":"webauthn"}`)) + "." +
			parts[1] + "." + parts[2],
		"with more in the third part": parts[0] + "." + parts[1] + "." +
			text(bytes.Replace(must(base64.RawURLEncoding.DecodeString(parts[2])), []byte("{"), []byte(`{"a":1,`), 1)),
		"with white space in the third one": parts[0] + "." + parts[1] + "." +
			text(append(must(base64.RawURLEncoding.DecodeString(parts[2])), ' ')),
		"without anything that it signed": parts[0] + "." + parts[1] + "." + text([]byte("{}")),
		"with a signature over the two": parts[0] + "." + parts[1] + "." +
			text(rawES256(ann.secret, parts[0]+"."+parts[1])),
	} {
		if f := known.Verify(jws); f.RefusalReason == "" {
			t.Errorf("%s it counts", name)
		}
	}
	header := text([]byte(`{"alg":"ES256","kid":"YW5u"}`))
	if f := known.Verify(header + "." + parts[1] + "." +
		text(rawES256(ann.secret, header+"."+parts[1]))); f.RefusalReason == "" {
		t.Error("a JWS by the key of a passkey counts")
	}
}

// rawES256 signs as JWS has it.
func rawES256(secret crypto.Signer, input string) []byte {
	digest := sha256.Sum256([]byte(input))
	r, s := must2(ecdsa.Sign(rand.Reader, secret.(*ecdsa.PrivateKey), digest[:]))
	return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
}

func must2[A, B any](a A, b B, err error) (A, B) {
	if err != nil {
		panic(err)
	}
	return a, b
}

func TestWhateverIsChangedOfAProofItCountsNoMore(t *testing.T) {
	t.Parallel()
	ann := newDevice(t, "YW5u", "ann", newEC())
	known := keys(t, ann.entry(t, "finance"), newDevice(t, "YW5v", "ann", newEC()).entry(t, "finance"))
	jws := ann.signs(claims("ann", "finance"))
	if f := known.Verify(jws); f.RefusalReason != "" {
		t.Fatal(f.RefusalReason)
	}
	parts := strings.Split(jws, ".")
	inner := must(jsonval.DecodeObject(must(base64.RawURLEncoding.DecodeString(parts[2]))))
	rapid.Check(t, func(t *rapid.T) {
		// The header, the payload, or one of the three that the passkey gave.
		part := rapid.SampledFrom([]string{"0", "1", "authenticatorData", "clientDataJSON", "signature"}).Draw(t,
			"part")
		changed, texts := append([]string(nil), parts...), map[string]any{}
		for k, v := range inner {
			texts[k] = v
		}
		change := func(encoded string) string {
			data := must(base64.RawURLEncoding.DecodeString(encoded))
			n := rapid.IntRange(0, len(data)-1).Draw(t, "byte")
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				data[n] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
			case 1:
				data = append(data[:n], data[n+1:]...)
			default:
				data = append(data[:n], append([]byte{byte(rapid.IntRange(0, 255).Draw(t, "new"))}, data[n:]...)...)
			}
			return text(data)
		}
		switch part {
		case "0":
			changed[0] = change(parts[0])
		case "1":
			changed[1] = change(parts[1])
		default:
			texts[part] = change(inner[part].(string))
			changed[2] = text(jsonval.Encode(texts))
		}
		if again := strings.Join(changed, "."); again != jws && known.Verify(again).RefusalReason == "" {
			t.Fatalf("%s is changed and it counts: %s", part, again)
		}
	})
}

func FuzzNoTextIsAProofButThatWhichThePasskeySigned(f *testing.F) {
	ann := newDevice(f, "YW5u", "ann", newEC())
	known := keys(f, ann.entry(f, "finance"))
	jws := ann.signs(claims("ann", "finance"))
	f.Add(jws)
	f.Add(strings.Replace(jws, ".", "..", 1))
	f.Add(passkey.JoinProof("ES256", ann.id, nil, passkey.Assertion{}))
	f.Fuzz(func(t *testing.T, other string) {
		if found := known.Verify(other); (found.RefusalReason == "") != (other == jws) {
			t.Errorf("%q: %+v", other, found)
		}
	})
}

func TestAnEntryOfAPasskeySaysWhereItIsUsedAndByWhomAlone(t *testing.T) {
	t.Parallel()
	ann := newDevice(t, "YW5u", "ann", newEC())
	for name, c := range map[string]struct {
		change func(m map[string]any)
		says   string
	}{
		"as it is": {func(map[string]any) {}, ""},
		"a page of a name below": {func(m map[string]any) {
			m["passkey"] = uses(site, origin, "https://eu."+site+":8443")
		}, ""},
		"this machine": {func(m map[string]any) {
			m["passkey"] = uses("localhost", "http://localhost:8300")
		}, ""},
		"anybody":    {func(m map[string]any) { m["people"] = []any{"*"} }, "one person"},
		"two people": {func(m map[string]any) { m["people"] = []any{"ann", "bob"} }, "one person"},
		"any group":  {func(m map[string]any) { m["groups"] = []any{"*"} }, "one person"},
		"nothing":    {func(m map[string]any) { m["passkey"] = map[string]any{} }, `"rpId"`},
		"no pages":   {func(m map[string]any) { m["passkey"] = uses(site) }, `"origins"`},
		"a text":     {func(m map[string]any) { m["passkey"] = "yes" }, `"rpId"`},
		"a page of another site": {func(m map[string]any) { m["passkey"] = uses(site, "https://evil.example.com") },
			"no address of"},
		"a page of a name that ends": {func(m map[string]any) { m["passkey"] = uses(site, "https://my"+site) },
			"no address of"},
		"a page without TLS": {func(m map[string]any) { m["passkey"] = uses(site, "http://"+site) },
			"no https address"},
		"a page and no origin": {func(m map[string]any) { m["passkey"] = uses(site, origin+"/desk") },
			"https://host[:port]"},
	} {
		m := ann.entry(t, "finance")
		c.change(m)
		_, err := signing.ParseKeys(jsonval.Encode(map[string]any{"keys": []any{m}}))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func uses(rp string, origins ...any) map[string]any {
	return map[string]any{"rpId": rp, "origins": append([]any{}, origins...)}
}

func TestBrowsersMakePasskeysForNamesThatTheyTrust(t *testing.T) {
	t.Parallel()
	for at, says := range map[string]string{
		origin: "", origin + ":8443": "", "http://localhost:8300": "", "http://127.0.0.1:8300": "is a number",
		"https://[::1]:8300": "is a number",
		"http://" + site:     "no https address", "": "does not say", "null": "does not say",
	} {
		u, err := passkey.SiteAt(at)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v", at, u, err)
		}
	}
}

// made is what a browser gives of a passkey that a device has made.
func made(flags byte, at, page, kind, challenge string, algorithm int) []byte {
	secret := newEC().(*ecdsa.PrivateKey)
	point := must(secret.PublicKey.Bytes())
	key := must(webauthncbor.Marshal(map[int]any{1: 2, 3: algorithm, -1: 1, -2: point[1:33], -3: point[33:]}))
	id := []byte("credential")
	attested := append(make([]byte, 16), binary.BigEndian.AppendUint16(nil, uint16(len(id)))...)
	data := authenticatorData(at, flags|0x40, append(append(attested, id...), key...))
	object := must(webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data}))
	client := jsonval.Encode(map[string]any{"type": kind, "origin": page, "challenge": challenge})
	return jsonval.Encode(map[string]any{"id": text(id), "rawId": text(id), "type": "public-key",
		"response": map[string]any{"clientDataJSON": text(client), "attestationObject": text(object)}})
}

func TestAPasskeyIsTakenInThatWasMadeHereAndNow(t *testing.T) {
	t.Parallel()
	challenge := text([]byte("a challenge of the desk"))
	const create = "webauthn.create"
	for name, c := range map[string]struct {
		answer []byte
		says   string
	}{
		"as it is":             {made(5, site, origin, create, challenge, -7), ""},
		"another challenge":    {made(5, site, origin, create, text([]byte("x")), -7), "challenge"},
		"a signature":          {made(5, site, origin, "webauthn.get", challenge, -7), "type"},
		"another page":         {made(5, site, "https://evil.example.com", create, challenge, -7), "origin"},
		"another site":         {made(5, "evil.example.com", origin, create, challenge, -7), "RP Hash"},
		"nobody there":         {made(4, site, origin, create, challenge, -7), "presence"},
		"an unknown person":    {made(1, site, origin, create, challenge, -7), "verification"},
		"an algorithm unasked": {made(5, site, origin, create, challenge, -35), "algorithm"},
		"nothing":              {[]byte("{}"), "no passkey"},
		"no JSON":              {[]byte("x"), "no passkey"},
	} {
		m, err := here().VerifyRegistration(c.answer, challenge)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if err != nil {
			continue
		}
		line, err := signing.PasskeyJWK(m, here(), "ann", []string{"finance"})
		if err != nil || !strings.Contains(string(line), `"passkey":{"origins":["`+origin+`"],"rpId":"`+site+`"}`) ||
			!strings.Contains(string(line), `"alg":"ES256"`) {
			t.Errorf("%s: %s, %v", name, line, err)
		}
	}
}
