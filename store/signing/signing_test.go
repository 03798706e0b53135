package signing

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/jsonval"
)

func claims(change ...func(*proof.Claims)) proof.Claims {
	c := proof.Claims{
		Issuer: "ann", Subject: "ann", Groups: []string{"finance"}, IssuedAt: 1, ID: "1",
		ProcessID: "p", CallID: "1.1", ApprovalDigest: "d", DecisionKind: "approve",
		DetailsDigest: proof.DetailsDigest(nil),
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func personKey(t *testing.T, name string, groups ...string) *PrivateKey {
	t.Helper()
	k, err := NewPersonKey(name, groups)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// jwks gives the file with the public halves of keys.
func jwks(t *testing.T, keys ...*PrivateKey) []byte {
	t.Helper()
	var list []any
	for _, k := range keys {
		line, err := k.PublicJWK()
		if err != nil {
			t.Fatal(err)
		}
		entry, err := jsonval.DecodeObject(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, entry)
	}
	return jsonval.Encode(map[string]any{"keys": list})
}

func parse(t *testing.T, data []byte) *Keys {
	t.Helper()
	keys, err := ParseKeys(data)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func sign(t *testing.T, k *PrivateKey, c proof.Claims) string {
	t.Helper()
	jws, err := k.Sign(c)
	if err != nil {
		t.Fatal(err)
	}
	return jws
}

// otherKey makes a private key of any kind for ann of finance.
func otherKey(t *testing.T, secret any, algorithm string) *PrivateKey {
	t.Helper()
	data, err := jose.JSONWebKey{Key: secret, KeyID: "k", Algorithm: algorithm}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := jsonval.DecodeObject(data)
	m["iss"], m["people"], m["groups"] = "ann", []any{"ann"}, []any{"finance"}
	k, err := readPrivateKey(m)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestEveryAlgorithmThatCountsSignsAndVerifies(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]*PrivateKey{
		"EdDSA": personKey(t, "ann", "finance"),
		"ES256": otherKey(t, must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), "ES256"),
		"RS256": otherKey(t, must(rsa.GenerateKey(rand.Reader, 2048)), ""),
	} {
		f := parse(t, jwks(t, k)).Verify(sign(t, k, claims()))
		if f.RefusalReason != "" || f.KeyThumbprint != k.Thumbprint || f.Claims.Subject != "ann" ||
			f.Claims.Groups[0] != "finance" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// raw makes a JWS of any header, signed by a function.
func raw(header string, payload []byte, sign func(input []byte) []byte) string {
	input := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString(payload)
	return input + "." + base64.RawURLEncoding.EncodeToString(sign([]byte(input)))
}

func TestWhatIsNoProofIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	ann, eve := personKey(t, "ann", "finance"), personKey(t, "eve")
	keys, payload := parse(t, jwks(t, ann)), claims().Encode()
	secret := ann.secret.Key.(ed25519.PrivateKey)
	byAnn := func(input []byte) []byte { return ed25519.Sign(secret, input) }
	byEve := func(input []byte) []byte { return ed25519.Sign(eve.secret.Key.(ed25519.PrivateKey), input) }
	public, _ := ann.PublicJWK()
	hmacWithPublic := func(key []byte) func([]byte) []byte {
		return func(input []byte) []byte {
			h := hmac.New(sha256.New, key)
			h.Write(input)
			return h.Sum(nil)
		}
	}
	kid := `"kid":"` + ann.ID + `"`
	evesJWK, _ := eve.PublicJWK()
	good := sign(t, ann, claims())
	parts := strings.Split(good, ".")
	for _, c := range []struct{ name, jws, want string }{
		{"as it is", raw(`{"alg":"EdDSA",`+kid+`}`, payload, byAnn), ""},
		{"alg none", raw(`{"alg":"none",`+kid+`}`, payload, func([]byte) []byte { return nil }), `alg "none"`},
		{"alg None", raw(`{"alg":"None",`+kid+`}`, payload, func([]byte) []byte { return nil }), `alg "None"`},
		{"no alg", raw(`{`+kid+`}`, payload, byAnn), `alg ""`},
		{"HS256, the public key as secret",
			raw(`{"alg":"HS256",`+kid+`}`, payload, hmacWithPublic(ann.publicKey.(ed25519.PublicKey))), `alg "HS256"`},
		{"HS256, the JWK as secret", raw(`{"alg":"HS256",`+kid+`}`, payload, hmacWithPublic(public)), `alg "HS256"`},
		{"the alg of another kind of key", raw(`{"alg":"RS256",`+kid+`}`, payload, byAnn),
			"says alg RS256, and the key"},
		{"a JWK inside", raw(`{"alg":"EdDSA",`+kid+`,"jwk":`+string(evesJWK)+`}`, payload, byEve), `has "jwk"`},
		{"x5c", raw(`{"alg":"EdDSA",`+kid+`,"x5c":[]}`, payload, byAnn), `has "x5c"`},
		{"jku", raw(`{"alg":"EdDSA",`+kid+`,"jku":"https://evil.example"}`, payload, byAnn), `has "jku"`},
		{"x5u", raw(`{"alg":"EdDSA",`+kid+`,"x5u":"https://evil.example"}`, payload, byAnn), `has "x5u"`},
		{"crit", raw(`{"alg":"EdDSA",`+kid+`,"crit":["b64"],"b64":false}`, payload, byAnn), `has "b64"`},
		{"two algs", raw(`{"alg":"EdDSA","alg":"none",`+kid+`}`, payload, byAnn), "no JSON object"},
		{"no kid", raw(`{"alg":"EdDSA"}`, payload, byAnn), `does not say "kid"`},
		{"another's key under ann's id", raw(`{"alg":"EdDSA",`+kid+`}`, payload, byEve),
			"the signature does not match"},
		{"a key that nobody listed",
			sign(t, eve, claims(func(c *proof.Claims) { c.Issuer, c.Subject, c.Groups = "eve", "eve", nil })),
			"not among those"},
		{"a changed payload", parts[0] + "." +
			base64.RawURLEncoding.EncodeToString(claims(func(c *proof.Claims) { c.CallID = "1.2" }).Encode()) + "." +
			parts[2], "the signature does not match"},
		{"no signature", parts[0] + "." + parts[1] + ".", "the signature does not match"},
		{"two parts", parts[0] + "." + parts[1], "no compact JWS"},
		{"JSON", `{"payload":"` + parts[1] + `"}`, "no compact JWS"},
		{"padded", parts[0] + "." + parts[1] + "." + parts[2] + "==", "base64url"},
		{"white space", good[:len(good)-4] + "\n" + good[len(good)-4:], "base64url"},
		{"too long", strings.Repeat("A", proof.MaxProofLength) + ".A.A", "at most"},
		{"another issuer", raw(`{"alg":"EdDSA",`+kid+`}`, claims(func(c *proof.Claims) { c.Issuer = "corp" }).Encode(),
			byAnn), "not one of the issuer corp"},
		{"for somebody else", raw(`{"alg":"EdDSA",`+kid+`}`,
			claims(func(c *proof.Claims) { c.Subject = "bob" }).Encode(), byAnn), "may not speak for bob"},
		{"under another's name",
			raw(`{"alg":"EdDSA",`+kid+`}`, claims(func(c *proof.Claims) { c.Name = "Bob" }).Encode(), byAnn),
			"may not call ann Bob"},
		{"of a group that is not theirs",
			raw(`{"alg":"EdDSA",`+kid+`}`, claims(func(c *proof.Claims) { c.Groups = []string{"heads"} }).Encode(),
				byAnn), "may not say that ann is of heads"},
		{"no claims", raw(`{"alg":"EdDSA",`+kid+`}`, []byte(`{}`), byAnn), `does not say "call"`},
	} {
		f := keys.Verify(c.jws)
		if (c.want == "") != (f.RefusalReason == "") || !strings.Contains(f.RefusalReason, c.want) {
			t.Errorf("%s: %q, want %q", c.name, f.RefusalReason, c.want)
		}
	}
	if f := (*Keys)(nil).Verify(good); f.RefusalReason == "" {
		t.Error("no keys, and a proof counts")
	}
}

// With an account of their own making somebody would be as many people as a policy wants.
func TestOnlyAKeyThatMaySpeakForAnybodySaysWhoseAccountItIs(t *testing.T) {
	t.Parallel()
	account := policy.Account{Issuer: "https://id.example.com", Subject: "7"}
	told := func(c *proof.Claims) { c.Issuer, c.SubjectID = "", proof.SubjectIDOf(account) }
	ann := personKey(t, "ann", "finance")
	if _, err := ann.Sign(claims(told)); err == nil || !strings.Contains(err.Error(), "which account") {
		t.Errorf("her own key: %v", err)
	}
	forged := *ann
	forged.People = []string{anybody}
	proven := sign(t, &forged, claims(told))
	if f := parse(t, jwks(t, ann)).Verify(proven); !strings.Contains(f.RefusalReason, "which account") {
		t.Errorf("her own key, by her own program: %+v", f)
	}
	gateway := must(NewIssuerKey("https://gateway.example.com"))
	speaker := gateway.SignerFor("ann", []string{"finance"})
	speaker.Account = account
	text := must(speaker.Sign(claims(func(c *proof.Claims) { c.Issuer = "" })))
	if f := parse(t, jwks(t, gateway)).Verify(text); f.RefusalReason != "" || f.Claims.SubjectID.Account != account {
		t.Errorf("the gateway's key: %+v", f)
	}
	speaker = ann.SignerFor("ann", nil)
	speaker.Account = account
	if _, err := speaker.Sign(claims()); err != nil {
		t.Errorf("a gateway with a key of hers alone says nothing of her account: %v", err)
	}
}

func TestAKeyThatIsNotFitIsNamed(t *testing.T) {
	t.Parallel()
	ann := personKey(t, "ann")
	entry := func(change func(map[string]any)) string {
		line, _ := ann.PublicJWK()
		m, _ := jsonval.DecodeObject(line)
		change(m)
		return string(jsonval.Encode(m))
	}
	public := func(key any) string {
		data, err := jose.JSONWebKey{Key: key, KeyID: "k"}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Replace(string(data), "{", `{"iss":"i","people":["*"],`, 1)
	}
	fine := entry(func(map[string]any) {})
	for name, c := range map[string]struct{ keys, want string }{
		"fine":             {fine, ""},
		"withdrawn":        {entry(func(m map[string]any) { m["withdrawn"] = "2026-11-23T12:00:00Z" }), ""},
		"a private key":    {strings.TrimSpace(string(ann.Encode())), "private key"},
		"a secret":         {`{"kty":"oct","kid":"k","k":"c2VjcmV0","iss":"i","people":["*"]}`, "shared secret"},
		"no kid":           {entry(func(m map[string]any) { delete(m, "kid") }), `no "kid"`},
		"no issuer":        {entry(func(m map[string]any) { delete(m, "iss") }), `"iss"`},
		"for nobody":       {entry(func(m map[string]any) { delete(m, "people") }), `"people"`},
		"people as a text": {entry(func(m map[string]any) { m["people"] = "ann" }), `"people" must be a list`},
		"a name for several": {entry(func(m map[string]any) { m["name"], m["people"] = "A", []any{"a", "b"} }),
			"one person"},
		"an unseen name":      {entry(func(m map[string]any) { m["name"] = "Ann\u200b" }), `"name": `},
		"an unseen person":    {entry(func(m map[string]any) { m["people"] = []any{"ann\u200b"} }), "invisible"},
		"an unseen group":     {entry(func(m map[string]any) { m["groups"] = []any{"x\u00ad"} }), "invisible"},
		"withdrawn some day":  {entry(func(m map[string]any) { m["withdrawn"] = "soon" }), `"withdrawn"`},
		"for encryption":      {entry(func(m map[string]any) { m["use"] = "enc" }), `"use"`},
		"another algorithm":   {entry(func(m map[string]any) { m["alg"] = "HS256" }), `"alg"`},
		"the same id twice":   {fine + "," + fine, "same kid"},
		"1024 bits":           {public(shortRSA(t)), "1024 bits"},
		"another curve":       {public(&must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)).PublicKey), "P-384"},
		"no key at all":       {`{"kid":"k"}`, "keys[0]"},
		"a text":              {`"k"`, "not string"},
		"an id over and over": {`{"kid":"a","kid":"b"}`, "kid"},
	} {
		_, err := ParseKeys([]byte(`{"keys": [` + c.keys + `]}`))
		if (c.want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := ParseKeys([]byte(fine)); err == nil || !strings.Contains(err.Error(), "JWKS") {
		t.Error(err)
	}
}

// shortRSA is a public key of 1024 bits; nobody needs to be able to sign with it.
func shortRSA(t *testing.T) *rsa.PublicKey {
	t.Helper()
	p, q := must(rand.Prime(rand.Reader, 512)), must(rand.Prime(rand.Reader, 512))
	return &rsa.PublicKey{N: p.Mul(p, q), E: 65537}
}

func TestAPrivateKeyIsReadFromAFileThatNobodyElseMayRead(t *testing.T) {
	t.Parallel()
	ann := personKey(t, "ann", "finance")
	file := filepath.Join(t.TempDir(), "ann.json")
	if err := os.WriteFile(file, ann.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := LoadPrivateKey(file)
	if err != nil || k.Person() != "ann" || k.ID != ann.ID || k.ID != k.Thumbprint || k.Groups[0] != "finance" {
		t.Fatalf("%+v, %v", k, err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPrivateKey(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
	if _, err := k.Sign(claims(func(c *proof.Claims) { c.Groups = []string{"heads"} })); err == nil ||
		!strings.Contains(err.Error(), "heads") {
		t.Error(err)
	}
	public, _ := k.PublicJWK()
	if strings.Contains(string(public), `"d"`) {
		t.Error("the public half holds the private one")
	}
	if _, err := ParsePrivateKey(public); err == nil || !strings.Contains(err.Error(), "public key") {
		t.Error(err)
	}
}

func TestKeysAreReadAgain(t *testing.T) {
	t.Parallel()
	ann, bob := personKey(t, "ann", "finance"), personKey(t, "bob", "finance")
	bobs := sign(t, bob, claims(func(c *proof.Claims) { c.Issuer, c.Subject = "bob", "bob" }))
	t.Run("when a file changes", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "keys.json")
		write := func(data []byte) {
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(jwks(t, ann))
		s, err := Open(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		s.now = func() time.Time { return now }
		refused := func(want string) {
			t.Helper()
			if f := s.Verify(t.Context(), bobs); !strings.Contains(f.RefusalReason, want) ||
				(want == "") != (f.RefusalReason == "") {
				t.Errorf("%q, want %q", f.RefusalReason, want)
			}
		}
		refused("not among those")
		write(jwks(t, ann, bob))
		refused("")
		write([]byte(`{"keys": [`))
		refused("") // what was read last counts for an hour
		now = now.Add(time.Hour + time.Minute)
		refused("cannot be read")
		write(jwks(t, ann, bob))
		refused("")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		refused("")
		if _, err := Open(t.Context(), file); !errors.Is(err, os.ErrNotExist) &&
			(err == nil || !strings.Contains(err.Error(), "no such file")) {
			t.Error(err)
		}
	})
	t.Run("from an address", func(t *testing.T) {
		body, asked := jwks(t, ann), 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			if body == nil {
				http.Error(w, "no", http.StatusBadGateway)
				return
			}
			_, _ = w.Write(body)
		}))
		defer server.Close()
		s, err := Open(t.Context(), server.URL)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		s.now = func() time.Time { return now }
		s.triedAt = now
		for range 3 {
			if _, err := s.Keys(t.Context()); err != nil || asked != 1 {
				t.Fatal(err, asked)
			}
		}
		body = jwks(t, ann, bob)
		now = now.Add(time.Minute)
		if f := s.Verify(t.Context(), bobs); f.RefusalReason != "" || asked != 2 { // asked for a key that was not there
			t.Error(f.RefusalReason, asked)
		}
		body = nil
		now = now.Add(6 * time.Minute)
		if f := s.Verify(t.Context(), bobs); f.RefusalReason != "" || asked != 3 {
			t.Error(f.RefusalReason, asked)
		}
		now = now.Add(time.Hour)
		if f := s.Verify(t.Context(), bobs); !strings.Contains(f.RefusalReason, "502") {
			t.Error(f.RefusalReason)
		}
	})
	for _, place := range []string{"http://example.org/keys", "ftp://localhost/keys", "https://"} {
		if _, err := Open(t.Context(), place); err == nil || !strings.Contains(err.Error(), "https") {
			t.Error(place, err)
		}
	}
	if s, err := FromEnvironment(context.Background(), func(string) string { return "" }); s != nil || err != nil {
		t.Error(s, err)
	}
	if f := (*KeySource)(nil).Verify(t.Context(), bobs); !strings.Contains(f.RefusalReason, DecidersVariable) {
		t.Error(f.RefusalReason)
	}
}

func TestAnEndlessListOfKeysIsReadToItsBoundAlone(t *testing.T) {
	t.Parallel()
	const most = 16 * maxKeyFileBytes
	written := make(chan int, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n, part := 0, bytes.Repeat([]byte("x"), 64<<10)
		for err := error(nil); err == nil && n < most; n += len(part) {
			_, err = w.Write(part)
		}
		written <- n
	}))
	defer server.Close()
	_, err := Open(t.Context(), server.URL)
	if n := <-written; err == nil || !strings.Contains(err.Error(), "more than 4194304 bytes") || n >= most {
		t.Errorf("%v after %d bytes", err, n)
	}
}

// FuzzVerify: whatever is sent as a proof is refused with a reason, or is one.
func FuzzVerify(f *testing.F) {
	ann, err := NewPersonKey("ann", []string{"finance"})
	if err != nil {
		f.Fatal(err)
	}
	line, _ := ann.PublicJWK()
	keys, err := ParseKeys([]byte(`{"keys":[` + string(line) + `]}`))
	if err != nil {
		f.Fatal(err)
	}
	good, err := ann.Sign(claims())
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{good, "", "..", good + ".", "e30.e30.e30", `{"signatures":[]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, jws string) {
		if found := keys.Verify(jws); found.RefusalReason == "" && jws != good {
			t.Errorf("%q counts as a proof", jws)
		}
	})
}
