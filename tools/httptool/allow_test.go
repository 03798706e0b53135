package httptool

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"processidea/model/ideafile"
)

func TestOnlyHostsOfTheListAreAsked(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ allow, yes, no string }{
		{"api.example.com", "api.example.com:443 api.example.com:8080",
			"example.com:443 xapi.example.com:443 api.example.com.evil.org:443"},
		{"api.example.com:8443", "api.example.com:8443", "api.example.com:443"},
		{" A.Example.COM. , b.org:81,", "a.example.com:80 b.org:81", "b.org:80"},
		{"*.example.com", "a.example.com:443 a.b.example.com:1", "example.com:443 badexample.com:443"},
		{"*", "anything.org:443 127.0.0.1:80", ""},
		{"127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1:80 localhost:8080"},
		{"::1,[2001:DB8::2]:8080", "::1:80 2001:db8::2:8080", "2001:db8::2:80"},
		{"[::ffff:10.0.0.1]:80", "10.0.0.1:80", "10.0.0.2:80"},
		{"bücher.example", "xn--bcher-kva.example:443", ""},
		{"my_service", "my_service:80", ""},
		{"", "", "a.org:443"},
	} {
		list, err := parseAllowList(row.allow)
		if err != nil {
			t.Fatalf("%q: %v", row.allow, err)
		}
		for want, places := range map[bool]string{true: row.yes, false: row.no} {
			for place := range strings.FieldsSeq(places) {
				i := strings.LastIndex(place, ":")
				if list.allowsHost(normalizeHost(place[:i]), place[i+1:]) != want {
					t.Errorf("%q and %s: not %v", row.allow, place, want)
				}
			}
		}
	}
}

func TestAListThatDoesNotParseIsAFinalErrorOfEachRequest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"https://a.org", "a.org/x", "a.org:http", "a.org:0", "a.org:70000", "a.org:080",
		"a:b:c", "u@h", "*.", "**", "a.*", ":80", "a b", "a..b", ".", "a.org;b.org", "*.a;b", "[::1", "a.org]", "[a.org]",
		"10.0.0.256", "10.0.0", "'a.org'", `"a.org"`} {
		err := CheckAllowList(text)
		if err == nil || !strings.Contains(err.Error(), AllowListVariable) {
			t.Errorf("%q: %v", text, err)
		}
		_, err = New(Options{AllowList: text}).Do(bg, Spec{URL: "http://a.org"}, nil, nil, "k")
		if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), "entry") {
			t.Errorf("%q: %v", text, e)
		}
	}
	if err := CheckAllowList("a.org,b.org:80,*,*.c.org,127.0.0.1,[::1]:80"); err != nil {
		t.Error(err)
	}
}

func TestWithoutAListNothingIsAskedAndTheVariableIsNamed(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	_, err := New(Options{AllowList: " ,"}).Do(bg, Spec{URL: s.URL}, nil, nil, "k")
	if e := asError(t, err); e.IsRetryable ||
		!strings.Contains(e.Error(), "no host is allowed: set PROCESSIDEA_HTTP_ALLOW") || len(asked.take()) != 0 {
		t.Errorf("%v", e)
	}
	_, err = New(Options{AllowList: "a.org"}).Do(bg, Spec{URL: s.URL}, nil, nil, "k")
	if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), "is not in PROCESSIDEA_HTTP_ALLOW") ||
		len(asked.take()) != 0 {
		t.Errorf("%v", e)
	}
}

func TestWhatTheWorkerLacksForAToolIsToldApart(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, nil)
	here := strings.TrimPrefix(s.URL, "http://")
	redirects, _ := redirecting(t, 302, func(*http.Request) string { return "http://elsewhere.org/" })
	there := strings.TrimPrefix(redirects.URL, "http://")
	for name, c := range map[string]struct {
		allow string
		spec  Spec
		want  string
	}{
		"no list":      {"", Spec{URL: s.URL}, ideafile.CodeToolAccessDenied},
		"another host": {"a.org", Spec{URL: s.URL}, ideafile.CodeToolAccessDenied},
		"a private address": {"*", Spec{URL: strings.Replace(s.URL, "127.0.0.1", "localhost", 1)},
			ideafile.CodeToolAccessDenied},
		"a list that is wrong": {"http://a.org", Spec{URL: s.URL}, ideafile.CodeToolAccessDenied},
		"a secret is not set": {here, Spec{URL: s.URL, Headers: map[string]string{"A": "Bearer $env:GONE"}},
			ideafile.CodeToolAccessDenied},
		"where the server sends": {there, Spec{URL: redirects.URL}, ""},
		"a missing parameter":    {here, Spec{URL: s.URL + "/{id}"}, ""},
	} {
		_, err := New(Options{AllowList: c.allow, LookupEnv: func(string) (string, bool) { return "", false }}).Do(bg,
			c.spec, nil, nil, "k")
		if e := asError(t, err); e.IsRetryable || e.FaultCode() != c.want {
			t.Errorf("%s: %q, %v", name, e.FaultCode(), e)
		}
	}
	_, _, _, err := New(Options{}).Get(bg, s.URL)
	if e := asError(t, err); e.FaultCode() != "" {
		t.Errorf("another URL may be allowed: %v", e)
	}
}

func TestOnlyPublicAddressesArePublic(t *testing.T) {
	t.Parallel()
	for want, texts := range map[bool]string{
		true: `8.8.8.8 1.1.1.1 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1 169.253.1.1 192.167.1.1 198.20.0.1 223.255.255.255
			2606:4700::1111 2a00:1450::1 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::808:808`,
		false: `0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 127.0.0.1 127.1.2.3 169.254.169.254 172.16.0.1 172.31.255.255
			192.0.0.192 192.0.2.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 168.63.129.16
			:: ::1 ::2 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 64:ff9b::a00:1 64:ff9b::7f00:1 64:ff9b:1::1 100::1
			2001::1 2001:db8::1 2002:7f00:1::1 3fff::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1 5f00::1`,
	} {
		for text := range strings.FieldsSeq(texts) {
			if ip := effectiveAddr(netip.MustParseAddr(text)); isPublic(ip) != want {
				t.Errorf("%s: public is not %v", text, want)
			}
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestTheAddressThatIsDialledIsLookedAt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		allow, address string
		named, want    bool
	}{
		{"*", "8.8.8.8:443", false, true},
		{"*", "127.0.0.1:80", false, false},
		{"*", "[::ffff:127.0.0.1]:80", false, false},
		{"*", "[64:ff9b::7f00:1]:80", false, false},
		{"*", "10.1.2.3:80", false, false},
		{"*,10.1.2.3", "10.1.2.3:80", false, true},
		{"*,10.1.2.3:81", "10.1.2.3:80", false, false},
		{"crm.internal", "10.1.2.3:80", true, true},
		{"crm.internal", "127.0.0.1:80", true, true},
		// A name never leads to a cloud's metadata; only its address itself does.
		{"crm.internal", "169.254.169.254:80", true, false},
		{"crm.internal", "[fe80::1]:80", true, false},
		{"crm.internal", "[fd00:ec2::254]:80", true, false},
		{"crm.internal", "100.100.100.200:80", true, false},
		{"crm.internal", "0.0.0.0:80", true, false},
		{"169.254.169.254", "169.254.169.254:80", true, true},
		{"crm.internal", "[2002:a9fe:a9fe::]:80", true, false},
		{"crm.internal", "[2001:0:1:2:3:4:5601:5601]:80", true, false},
		{"crm.internal", "[64:ff9b:1::a9fe:a9fe]:80", true, false},
		{"crm.internal", "[64:ff9b::a9fe:a9fe]:80", true, false},
		{"crm.internal", "[::ffff:169.254.169.254]:80", true, false},
		{"crm.internal", "[::1]:80", true, true},
		{"crm.internal", "[fd12::1]:80", true, true},
		{"crm.internal", "nonsense", true, false},
	} {
		list, err := parseAllowList(row.allow)
		if err != nil {
			t.Fatal(err)
		}
		err = (&dialer{allowList: list}).checkDialedAddress(row.address, row.named)
		if (err == nil) != row.want || (err != nil && !IsRefused(err)) {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

func TestANameThatResolvesToThisHostIsRefusedUnlessItIsNamed(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	byName := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	port := s.URL[strings.LastIndex(s.URL, ":")+1:]
	for allow, want := range map[string]bool{
		"*": false, "*.localhost,*": false, "localhost": true, "localhost:" + port: true, "localhost:1,*": false,
		"*,127.0.0.1:" + port + ",::1": true,
	} {
		c := New(Options{AllowList: allow})
		_, err := c.Do(bg, Spec{URL: byName}, nil, nil, "k")
		c.Close()
		if n := len(asked.take()); (err == nil) != want || (n == 1) != want {
			t.Errorf("%s: %v, %d requests", allow, err, n)
		}
		if err != nil {
			if e := asError(t, err); e.IsRetryable ||
				!strings.Contains(e.Error(), "is not public: name the host in PROCESSIDEA_HTTP_ALLOW") {
				t.Errorf("%s: %v", allow, e)
			}
		}
	}
}

// Not parallel: it sets variables of the process.
func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	proxy, through := serve(t, nil)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	c := New(Options{AllowList: "*"})
	defer c.Close()
	// The address is refused before anything is sent, by whichever way.
	if _, err := c.Do(bg, Spec{URL: "http://10.255.255.1/"}, nil, nil, "k"); err == nil || len(through.take()) != 0 {
		t.Errorf("%v", err)
	}
	if c.transport.Proxy != nil {
		t.Error("a proxy is asked for")
	}
}
