package codecserver

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"

	"processidea/connect"
	"processidea/store/blobs"
	"processidea/store/encryption"
)

func keys(t *testing.T, id string) *encryption.Keys {
	t.Helper()
	entry, err := encryption.GenerateKey(id)
	if err != nil {
		t.Fatal(err)
	}
	k, err := encryption.Parse(entry)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func serve(t *testing.T, o Options) string {
	t.Helper()
	if o.Store == nil {
		store, err := blobs.Open(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		o.Store = store
	}
	h, err := Handler(o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// ask sends payloads as a page of an origin does, and gives what comes back.
func ask(t *testing.T, method, url, body string, headers ...string) (status int, header http.Header, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(headers); n += 2 {
		if headers[n] == "Host" {
			r.Host = headers[n+1]
		}
		r.Header.Set(headers[n], headers[n+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(read)
}

func TestWithoutOriginsOnlyPagesFromThisMachineMayAsk(t *testing.T) {
	url := serve(t, Options{})
	for origin, want := range map[string]int{
		"http://127.0.0.1:8233": 200, "http://localhost:8233": 200, "http://[::1]:8233": 200,
		"https://example.org": 403, "http://127.0.0.1.example.org": 403, "http://localhost.example.org": 403,
		"null": 403, "": 403,
	} {
		status, header, _ := ask(t, "POST", url+"/decode", `{"payloads": []}`, "Origin", origin)
		if status != want || ((header.Get("Access-Control-Allow-Origin") == origin) != (want == 200) && origin != "") {
			t.Errorf("%q: %d, %v", origin, status, header)
		}
	}
	// A page from elsewhere whose host's name was made to lead here.
	status, _, _ := ask(t, "POST", url+"/decode", `{"payloads": []}`, "Origin", "http://localhost:8233", "Host",
		"evil.example.org")
	if status != 403 {
		t.Error(status)
	}
}

func TestWithOriginsOnlyPagesOfThoseMayAsk(t *testing.T) {
	url := serve(t, Options{AllowedOrigins: []string{"https://temporal.example.com", "http://ui:8080"}})
	for origin, want := range map[string]int{
		"https://temporal.example.com": 200, "http://ui:8080": 200,
		"http://temporal.example.com": 403, "https://temporal.example.com:8443": 403,
		"https://temporal.example.com.evil.org": 403,
		"https://evil.org":                      403, "http://localhost:8233": 403, "": 403, "null": 403,
		"https://TEMPORAL.example.com": 403,
	} {
		for method, want := range map[string]int{"POST": want, "OPTIONS": map[int]int{200: 204, 403: 403}[want]} {
			status, header, _ := ask(t, method, url+"/decode", `{"payloads": []}`, "Origin", origin)
			if status != want || (want == 403 && header.Get("Access-Control-Allow-Origin") != "") {
				t.Errorf("%s %q: %d, %v", method, origin, status, header)
			}
		}
	}
}

func TestWithATokenNobodyAsksWithoutIt(t *testing.T) {
	url := serve(t, Options{AllowedOrigins: []string{"https://temporal.example.com"}, BearerToken: "s3cret"})
	for _, row := range []struct {
		origin, authorization string
		want                  int
	}{
		{"", "Bearer s3cret", 200}, {"https://temporal.example.com", "Bearer s3cret", 200},
		{"", "", 401}, {"", "Bearer", 401}, {"", "Bearer s3cre", 401}, {"", "s3cret", 401}, {"", "Bearer s3cret ", 200},
		{"", "Basic s3cret", 401},
		{"https://temporal.example.com", "", 401}, {"https://evil.org", "Bearer s3cret", 403},
	} {
		status, _, _ := ask(t, "POST", url+"/decode", `{"payloads": []}`, "Origin", row.origin, "Authorization",
			row.authorization)
		if status != row.want {
			t.Errorf("%+v: %d", row, status)
		}
	}
	if status, _, _ := ask(t, "OPTIONS", url+"/decode", "", "Origin", "https://temporal.example.com"); status != 204 {
		t.Errorf("a browser that asks first: %d", status)
	}
}

func TestWhatIsNoOriginIsRefused(t *testing.T) {
	for _, origin := range []string{"", "*", "temporal.example.com", "https://temporal.example.com/", "https://a/b",
		"https://A.org", "ftp://a", "https://u@a", "https://a?b", "null"} {
		if _, err := Handler(Options{AllowedOrigins: []string{origin}}); err == nil {
			t.Errorf("%q", origin)
		}
	}
}

func TestEncryptedPayloadsAreShownWhereverTheyLie(t *testing.T) {
	store, err := blobs.Open(t.Context(), t.TempDir(), blobs.WithKeys(keys(t, "k1")))
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, Options{Store: store})
	values := connect.DataConverter(store.Keys())
	small, err := values.ToPayload("small")
	if err != nil {
		t.Fatal(err)
	}
	large, err := values.ToPayload("large" + strings.Repeat("x", 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	claims, err := store.ExternalStorage().Drivers[0].Store(converter.StorageDriverStoreContext{Context: t.Context()},
		[]*commonpb.Payload{large})
	if err != nil || claims[0].ClaimData["key"] != "k1" {
		t.Fatalf("%v, %v", claims, err)
	}
	plain, _ := connect.DataConverter(nil).ToPayload("plain")
	encoded, err := protojson.Marshal(&commonpb.Payloads{Payloads: []*commonpb.Payload{small, large, plain}})
	if err != nil {
		t.Fatal(err)
	}
	status, _, answer := ask(t, "POST", url+"/decode", string(encoded), "Origin", "http://localhost:8233")
	var back commonpb.Payloads
	if err := protojson.Unmarshal([]byte(answer), &back); err != nil || status != 200 || len(back.GetPayloads()) != 3 {
		t.Fatalf("%d, %v: %.300s", status, err, answer)
	}
	for n, want := range []string{`"small"`, `"largex`, `"plain"`} {
		if !bytes.HasPrefix(back.GetPayloads()[n].GetData(), []byte(want)) {
			t.Errorf("%d: %.40s", n, back.GetPayloads()[n].GetData())
		}
	}
	// What is encoded here, large as it is, goes to the store, and comes back from there.
	whole, _ := protojson.Marshal(&commonpb.Payloads{Payloads: []*commonpb.Payload{back.GetPayloads()[1]}})
	_, _, stored := ask(t, "POST", url+"/encode", string(whole), "Origin", "http://localhost:8233")
	if len(stored) > 1000 {
		t.Errorf("%d bytes", len(stored))
	}
	for _, path := range []string{"/decode", "/download"} {
		if _, _, answer = ask(t, "POST", url+path, stored, "Origin", "http://localhost:8233"); len(answer) < 1<<20 {
			t.Errorf("%s: %.300s", path, answer)
		}
	}
}

func TestAMissingKeyIsNamedToWhoAsks(t *testing.T) {
	p, err := connect.DataConverter(keys(t, "k1")).ToPayload("hello")
	if err != nil {
		t.Fatal(err)
	}
	encoded, _ := protojson.Marshal(&commonpb.Payloads{Payloads: []*commonpb.Payload{p}})
	status, _, answer := ask(t, "POST", serve(t, Options{})+"/decode", string(encoded), "Origin",
		"http://localhost:8233")
	if status != 400 || !strings.Contains(answer, "encrypted with key k1, and PROCESSIDEA_KEYS is not set") {
		t.Errorf("%d: %s", status, answer)
	}
}

func TestAnEndlessRequestIsCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("it sends 64 MB")
	}
	status, _, _ := ask(t, "POST", serve(t, Options{})+"/decode", strings.Repeat(" ", maxRequestBodyBytes+1), "Origin",
		"http://localhost:8233")
	if status != 400 {
		t.Error(status)
	}
}
