package httptool

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestSecretsAreStruckOutOfResultsAndErrors(t *testing.T) {
	t.Parallel()
	const token = `s3cr&t/"é-value`
	forms := []string{token, encodeURLPart(token), base64.StdEncoding.EncodeToString([]byte(token))}
	status, contentType := 200, "application/json"
	var reply string
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reply)
	})
	c := client(t, map[string]string{"TOKEN": token, "PIN": "12345678", "ONE": "1"}, s)
	spec := Spec{URL: s.URL + "/?k=$env:TOKEN&n=$env:ONE",
		Headers: map[string]string{"A": "Bearer $env:TOKEN", "P": "$env:PIN"}}
	tree, _ := json.Marshal(map[string]any{"echo": forms, token: "key", "deep": []any{"Bearer " + token}, "n": 1,
		"pin": json.Number("12345678")})
	for _, row := range []struct {
		status            int
		contentType, body string
	}{
		{200, "application/json", string(tree)},
		{200, "text/plain", strings.Join(forms, " ")},
		{200, "text/html", string(tree)},
		{200, "application/json", string(tree) + "broken"},
		{400, "application/json", string(tree)},
		{503, "text/plain", strings.Repeat("x", 995) + token},
		{302, "text/plain", ""},
	} {
		status, contentType, reply = row.status, row.contentType, row.body
		result, err := c.Do(bg, spec, nil, nil, "k")
		text := encoded(t, result) + fmt.Sprintf("%v %+v", err, err)
		for err != nil {
			text += fmt.Sprintf("%#v %s", err, err)
			err = errors.Unwrap(err)
		}
		quoted, _ := json.Marshal(token)
		for _, form := range append(forms, string(quoted[1:len(quoted)-1]), "s3cr") {
			if strings.Contains(text, form) {
				t.Errorf("%+v: %q stands in %s", row, form, text)
			}
		}
	}
	status, contentType, reply = 200, "application/json", string(tree)
	result, err := c.Do(bg, spec, nil, nil, "k")
	want := `{"[secret TOKEN]":"key","deep":["Bearer [secret TOKEN]"],"echo":["[secret TOKEN]","[secret TOKEN]","[secret TOKEN]"],"n":1,"pin":"[secret PIN]"}`
	if err != nil || encoded(t, result) != want {
		t.Errorf("%s, %v", encoded(t, result), err)
	}
}

func TestAMissingSecretIsNamedAndNoOther(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, nil)
	c := client(t, map[string]string{"HERE": "t0p-secret", "EMPTY": ""}, s)
	for _, name := range []string{"GONE", "EMPTY"} {
		_, err := c.Do(bg, Spec{URL: s.URL, Headers: map[string]string{"A": "$env:HERE", "B": "$env:" + name}},
			nil, nil, "k")
		e := asError(t, err)
		if e.IsRetryable || !strings.Contains(e.Error(), "environment variable "+name+" is not set") ||
			strings.Contains(e.Error(), "t0p-secret") {
			t.Errorf("%v", e)
		}
	}
}

func TestASecretHostStandsInNoErrorOfTheConnection(t *testing.T) {
	t.Parallel()
	c := client(t, map[string]string{"BASE": "http://secret-host.invalid:81"})
	c.allowList.allowsAllPublic = true
	_, err := c.Do(bg, Spec{URL: "$env:BASE/x"}, nil, nil, "k")
	e := asError(t, err)
	if e.Status != 0 || strings.Contains(e.Error(), "secret-host.invalid:81") ||
		!strings.HasPrefix(e.Error(), "httptool: POST $env:BASE/x: ") {
		t.Errorf("%v", e)
	}
}

// A server may keep what one request told it.
func TestASecretIsStruckOutOfAnswersToOtherRequestsToo(t *testing.T) {
	t.Parallel()
	var kept []string
	status := 200
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if a := r.Header.Get("Authorization"); a != "" {
			kept = append(kept, a)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Join(kept, " and "))
	})
	c := client(t, map[string]string{"TOKEN": "t0p-secret", "SHORT": "abcd"}, s)
	for _, name := range []string{"TOKEN", "SHORT"} {
		if _, err := c.Do(bg, Spec{URL: s.URL, Headers: map[string]string{"Authorization": "Bearer $env:" + name}}, nil,
			nil, "k"); err != nil {
			t.Fatal(err)
		}
	}
	// A short one may stand anywhere by chance, and is struck out of answers to those requests alone that use it.
	const want = "Bearer [secret TOKEN] and Bearer abcd"
	if got, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k"); err != nil || got != want {
		t.Errorf("%v, %v", got, err)
	}
	if _, _, got, err := c.Get(bg, s.URL+"/?q=t0p-secret"); err != nil || got != want {
		t.Errorf("%v, %v", got, err)
	}
	status = 503
	for _, err := range []error{
		func() error { _, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k"); return err }(),
		func() error { _, _, _, err := c.Get(bg, s.URL+"/?q=t0p-secret"); return err }(),
	} {
		if e := asError(t, err); !strings.Contains(e.Error(), want) || strings.Contains(e.Error(), "t0p-secret") {
			t.Error(e)
		}
	}
	got, err := client(t, nil, s).Do(bg, Spec{URL: s.URL + "/?a"}, nil, nil, "k")
	if e := asError(t, err); !strings.Contains(e.Error(), "t0p-secret") {
		t.Errorf("who does not know the secret strikes it out: %v, %v", got, e)
	}
}

func TestWhatTheProgramKeepsForItselfIsNoSecretForTools(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	c := client(t, map[string]string{"PROCESSIDEA_KEYS": "k1:key", "TEMPORAL_API_KEY": "key"}, s)
	for _, name := range []string{"PROCESSIDEA_KEYS", "TEMPORAL_API_KEY"} {
		for _, spec := range []Spec{
			{URL: s.URL + "/$env:" + name}, {URL: s.URL, Headers: map[string]string{"A": "$env:" + name}},
			{URL: s.URL, Body: map[string]any{"a": []any{"x $env:" + name}}},
		} {
			_, err := c.Do(bg, spec, nil, nil, "k")
			if e := asError(t, err); e.IsRetryable ||
				!strings.Contains(e.Error(), "environment variable "+name+" is not for tools") ||
				len(asked.take()) != 0 {
				t.Errorf("%v", e)
			}
			if _, err := ParseSpec(spec); err == nil {
				t.Errorf("%+v is parsed", spec)
			}
		}
	}
}

func TestTheEnvironmentIsAskedOnlyForNamesOfTheSpec(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, `{"a":"$env:OTHER"}`) })
	var asked []string
	c := New(Options{AllowList: strings.TrimPrefix(s.URL, "http://"), AllowedSecrets: "NAME@127.0.0.1",
		LookupEnv: func(n string) (string, bool) { asked = append(asked, n); return "value", true }})
	defer c.Close()
	if _, err := c.Do(bg, Spec{URL: s.URL, Headers: map[string]string{"A": "$env:NAME"}},
		object(t, `{"x":"$env:OTHER"}`), nil, "k"); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 || asked[0] != "NAME" {
		t.Errorf("%q", asked)
	}
}

func TestOnlyWhatTheListNamesIsGivenToTools(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	env := map[string]string{"SHOP_TOKEN": "shop-value", "CRM_KEY": "crm-value", "CRM": "crm-itself",
		"OPENAI_API_KEY": "sk-own", "AWS_SECRET_ACCESS_KEY": "aws-own",
		"OTEL_EXPORTER_OTLP_HEADERS": "otel-own", "SHOP_TOKEN_2": "other", "PATH": "/bin"}
	for _, c := range []struct{ list, given string }{
		{"", ""}, {"SHOP_TOKEN@*, CRM_*@*", "SHOP_TOKEN CRM_KEY"}, {"CRM@*", "CRM"},
		{"CRM*@*\nSHOP_TOKEN@*", "CRM CRM_KEY SHOP_TOKEN"},
		{"OPENAI_API_KEY@*", "OPENAI_API_KEY"}, {"SHOP_TOKEN@*, *@*", ""}, {"SHOP-TOKEN@* SHOP_TOKEN@*", ""},
		{"SHOP_TOKEN", ""},
	} {
		c0 := New(Options{AllowList: strings.TrimPrefix(s.URL, "http://"), AllowedSecrets: c.list,
			LookupEnv: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
		for name, value := range env {
			_, err := c0.Do(bg, Spec{URL: s.URL, Headers: map[string]string{"K": "$env:" + name}}, nil, nil, "k")
			_, _, _, fillErr := c0.FillSecrets(s.URL, map[string]string{"X": "$env:" + name})
			sent := asked.take()
			if strings.Contains(" "+c.given+" ", " "+name+" ") {
				if err != nil || fillErr != nil || len(sent) != 1 || sent[0].Header.Get("K") != value {
					t.Errorf("%q: %s: %v, %v", c.list, name, err, fillErr)
				}
				continue
			}
			if e := asError(t, err); e.IsRetryable || len(sent) != 0 || fillErr == nil ||
				strings.Contains(e.Error(), value) ||
				!strings.Contains(e.Error(), "variable "+name+" may not be given to tools") ||
				!strings.Contains(e.Error(), SecretsVariable) {
				t.Errorf("%q: %s: %v, %v", c.list, name, err, fillErr)
			}
		}
		c0.Close()
	}
}

// A secret goes to its host alone, wherever an Idea would have it sent, and whatever part of the request it stands in.
func TestASecretIsToldToItsHostAlone(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	own := strings.TrimPrefix(s.URL, "http://")
	_, port, _ := strings.Cut(own, ":")
	spec := func(how string) Spec {
		return map[string]Spec{
			"header": {URL: s.URL, Headers: map[string]string{"K": "$env:KEY"}},
			"path":   {URL: s.URL + "/$env:KEY"},
			"query":  {URL: s.URL + "/?k=$env:KEY"},
			"body":   {URL: s.URL, Method: "POST", Body: map[string]any{"k": "$env:KEY"}},
		}[how]
	}
	for list, told := range map[string]bool{
		"KEY@*": true, "KEY@127.0.0.1": true, "KEY@" + own: true, "K*@127.0.0.1:" + port: true,
		"KEY@shop.example KEY@" + own: true,
		"KEY@shop.example":            false, "KEY@127.0.0.1:1": false, "KEY@localhost": false, "KEY@*.example": false,
		"OTHER@" + own: false,
	} {
		c := New(Options{AllowList: own, AllowedSecrets: list,
			LookupEnv: func(string) (string, bool) { return "the-very-secret", true }})
		for _, how := range []string{"header", "path", "query", "body"} {
			_, err := c.Do(bg, spec(how), nil, nil, "k")
			_, _, _, fillErr := c.FillSecrets(s.URL+"/mcp", map[string]string{"K": "$env:KEY"})
			if n := len(asked.take()); (err == nil) != told || (fillErr == nil) != told || (n == 1) != told {
				t.Errorf("%s in the %s: %d requests, %v, %v", list, how, n, err, fillErr)
			}
			if bound := strings.HasPrefix(list, "KEY@"); err != nil && (!strings.Contains(err.Error(), "KEY") ||
				bound && !strings.Contains(err.Error(), "adds KEY@"+own+" to ") ||
				!strings.Contains(err.Error(), SecretsVariable) || strings.Contains(err.Error(), "very-secret")) {
				t.Error(err)
			}
		}
		_, _, _, err := c.FillSecrets("", map[string]string{"K": "$env:KEY"}) // of a program
		if program := list == "KEY@*" || list == "KEY@localhost"; (err == nil) != program {
			t.Errorf("%s of a program: %v", list, err)
		}
		c.Close()
	}
}

func TestWhichHostAnAddressNames(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"": "localhost", "https://shop.example/a?b={c}": "shop.example",
		"http://SHOP.example:8080": "http://shop.example:8080", "https://{host}/a": "HOST",
		"https://$env:SHOP/a": "HOST", "https://x{y}.example": "HOST", "nonsense": "HOST",
		"http://127.0.0.1:8080/a": "127.0.0.1:8080", "http://LOCALHOST": "localhost", "http://[::1]:80": "[::1]:80",
	} {
		if got := SecretHostOf(address); got != want {
			t.Errorf("a secret for %s goes to %s", address, got)
		}
		if got := HostOf(address); got != strings.TrimPrefix(want, "http://") {
			t.Errorf("%s is at %s", address, got)
		}
	}
}

// Whoever sits between could read it.
func TestASecretGoesToAHostInPlainTextOnlyWhereThatIsWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list, address string
		goes          bool
	}{
		{"KEY@shop.example", "https://shop.example", true},
		{"KEY@shop.example", "http://shop.example", false},
		{"KEY@shop.example:8080", "http://shop.example:8080/a", false},
		{"KEY@*.example", "http://shop.example", false},
		{"KEY@http://shop.example", "http://shop.example", true},
		{"KEY@http://shop.example", "https://shop.example", true},
		{"KEY@http://shop.example", "http://other.example", false},
		{"KEY@http://*.example", "http://shop.example", true},
		{"KEY@10.0.0.7", "http://10.0.0.7", false},
		{"KEY@shop.example KEY@http://10.0.0.7", "http://10.0.0.7", true},
		{"KEY@*", "http://shop.example", true},
		{"KEY@localhost", "http://localhost:8080", true},
		{"KEY@127.0.0.1 KEY@::1", "http://[::1]:8080", true},
	} {
		told := func(secrets string) ([]error, error) {
			client := New(Options{AllowList: "*,10.0.0.7,localhost,::1", AllowedSecrets: secrets,
				LookupEnv: func(string) (string, bool) { return "the-very-secret", true }})
			defer client.Close()
			texts := map[string]string{"K": "$env:KEY"}
			_, _, _, err := client.FillSecrets(c.address, texts)
			return client.MissingRequirementsAt(c.address, texts), err
		}
		lacks, err := told(c.list)
		if (err == nil) != c.goes || (len(lacks) == 0) != c.goes {
			t.Errorf("%s to %s: %v, %v", c.list, c.address, err, lacks)
		}
		if err == nil {
			continue
		}
		entry := "KEY@" + SecretHostOf(c.address)
		https := strings.Contains(err.Error(), "in plain text: write https")
		if !strings.Contains(err.Error(), "adds "+entry+" to ") || https == strings.Contains(c.address, "other") {
			t.Errorf("%s to %s: %v", c.list, c.address, err)
		}
		if lacks, err := told(c.list + " " + entry); err != nil || len(lacks) > 0 {
			t.Errorf("with %s, as it says: %v, %v", entry, err, lacks)
		}
	}
}

func TestAListOfSecretsThatCannotBeMeantIsRefused(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"": true, " , ": true, "A@h": true, "A_B@h:80, C*@*.h.example": true, "a*@*\tb1@[::1]": true,
		"A@127.0.0.1": true, "A@http://h:80 B@http://*.h.example": true,
		"*@h": false, "A**@h": false, "*A@h": false, "A-B@h": false, "$env:A@h": false, "1A@h": false,
		"A=1": false,
		"A":   false, "A*": false,
		"A@": false, "@h": false, "A@h@i": false, "A@https://h": false, "A@http://": false, "A@h:0": false, "A@h/path": false,
		"PROCESSIDEA_KEYS@h": false, "PROCESSIDEA_*@h": false, "TEMPORAL_API_KEY@h": false, "TEMPORAL_*@h": false,
	} {
		if _, err := CheckSecretEntries(text); (err == nil) != ok ||
			(err != nil && !strings.Contains(err.Error(), SecretsVariable)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
