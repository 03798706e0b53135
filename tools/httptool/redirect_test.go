package httptool

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// redirecting answers with the status and a Location until the path is /end.
func redirecting(t *testing.T, status int, to func(r *http.Request) string) (*httptest.Server, *record) {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			_, _ = w.Write([]byte("arrived"))
			return
		}
		w.Header().Set("Location", to(r))
		w.WriteHeader(status)
	})
}

func TestARedirectKeepsTheMethodWhereItsStatusSaysSo(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		301: "GET ", 302: "GET ", 303: "GET ", 307: `PUT {"a":1}`, 308: `PUT {"a":1}`,
	} {
		s, asked := redirecting(t, status, func(*http.Request) string { return "/end" })
		c := client(t, map[string]string{"TOKEN": "t0p-secret"}, s)
		got, err := c.Do(bg, Spec{URL: s.URL, Method: "PUT", Headers: map[string]string{"X-Key": "$env:TOKEN"}},
			object(t, `{"a":1}`), nil, "key")
		if err != nil || got != "arrived" {
			t.Errorf("%d: %v, %v", status, got, err)
			continue
		}
		last := asked.take()[1]
		if last.Method+" "+last.Body != want || last.Header.Get("X-Key") != "t0p-secret" ||
			last.Header.Get("Idempotency-Key") != "key" {
			t.Errorf("%d: %+v", status, last)
		}
		if (last.Header.Get("Content-Type") != "") != (last.Body != "") {
			t.Errorf("%d: content type %q of %q", status, last.Header.Get("Content-Type"), last.Body)
		}
	}
}

// A server that wants https, www or another slash would be asked for the page with GET: nothing would be done, and the
// Call would be.
func TestARedirectToTheSamePageIsNoResultOfARequestThatActs(t *testing.T) {
	t.Parallel()
	other, reached := serve(t, nil)
	for _, status := range []int{301, 302, 303} {
		for _, path := range []string{"/orders", "/orders/"} {
			s, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == "POST" || r.URL.Path == path {
					w.Header().Set("Location", other.URL+"/orders?k=t0p-secret")
					if path == "/orders/" {
						w.Header().Set("Location", "/orders")
					}
					w.WriteHeader(status)
				}
			})
			c := client(t, map[string]string{"TOKEN": "t0p-secret"}, s, other)
			_, err := c.Do(bg, Spec{URL: s.URL + path}, object(t, `{"a":1}`), nil, "k")
			if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), "/orders, and has not taken") ||
				strings.Contains(e.Error(), "t0p-secret") || len(asked.take()) != 1 || len(reached.take()) != 0 {
				t.Errorf("%d %s: %v", status, path, e)
			}
			if got, err := c.Do(bg, Spec{URL: s.URL + path, Method: "GET"}, nil, nil, "k"); err != nil {
				t.Errorf("%d GET %s: %v, %v", status, path, got, err)
			}
			reached.take()
		}
		s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "POST" {
				http.Redirect(w, r, r.URL.Path, status) // which shows what it did
			}
		})
		if _, err := client(t, nil, s).Do(bg, Spec{URL: s.URL + "/orders"}, nil, nil, "k"); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// Servers for browsers answer whom they do not know with a page to log in at, and the status of a success.
func TestARedirectToALoginIsNoResult(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		to, contentType, body string
		isLogin               bool
	}{
		{"/login?next=t0p-secret", "text/html; charset=utf-8", "<form></form>", true},
		{"/users/sign_in", "text/html", "<form></form>", true},
		{"/start", "text/html", `<INPUT name="p" type='password'>`, true},
		{"/login", "application/json", `{"who":"ann"}`, false},
		{"/orders/7", "text/html", "<p>Order 7</p>", false},
		{"/plugins/catalog-info", "text/html", "<p>Order 7</p>", false},
	} {
		for _, status := range []int{302, 303} {
			for _, method := range []string{"POST", "GET"} {
				s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/orders" {
						w.Header().Set("Location", row.to)
						w.WriteHeader(status)
						return
					}
					write(row.contentType, row.body)(w, r)
				})
				c := client(t, map[string]string{"TOKEN": "t0p-secret"}, s)
				got, err := c.Do(bg, Spec{URL: s.URL + "/orders", Method: method}, nil, nil, "k")
				if !row.isLogin && (err != nil || got == nil) || row.isLogin && err == nil {
					t.Errorf("%s %d %s: %v, %v", method, status, row.to, got, err)
				}
				if err != nil && (asError(t, err).IsRetryable ||
					!strings.Contains(err.Error(), "is a page to log in at") ||
					strings.Contains(err.Error(), "t0p-secret")) {
					t.Errorf("%s %d %s: %v", method, status, row.to, err)
				}
			}
		}
	}
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/login" {
			http.Redirect(w, r, "/login", http.StatusFound)
			return
		}
		write("text/html", "<form></form>")(w, r)
	})
	if _, _, body, err := client(t, nil, s).Get(bg, s.URL); err != nil || body != "<form></form>" {
		t.Errorf("who reads pages may read that one: %q, %v", body, err)
	}
}

func TestAtMostFiveRedirectsAreFollowed(t *testing.T) {
	t.Parallel()
	s, asked := redirecting(t, 302, func(r *http.Request) string {
		n := 0
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
		if n == 1 {
			return "/end"
		}
		return fmt.Sprintf("/%d", n-1)
	})
	c := client(t, nil, s)
	if got, err := c.Do(bg, Spec{URL: s.URL + "/5", Method: "GET"}, nil, nil, "k"); err != nil || got != "arrived" {
		t.Errorf("five: %v, %v", got, err)
	}
	asked.take()
	_, err := c.Do(bg, Spec{URL: s.URL + "/6", Method: "GET"}, nil, nil, "k")
	if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), "more than 5 redirects") ||
		len(asked.take()) != 6 {
		t.Errorf("six: %v", e)
	}
}

func TestEachHopIsCheckedAgainstTheList(t *testing.T) {
	t.Parallel()
	other, reached := serve(t, nil)
	for location, want := range map[string]string{
		other.URL: "is not in PROCESSIDEA_HTTP_ALLOW",
		"http://169.254.169.254/latest/meta-data": "is not in PROCESSIDEA_HTTP_ALLOW",
		"ftp://a.org/":          "not an http or https URL",
		"http://u:p@127.0.0.1/": "not an http or https URL",
		"http://[::1":           "not an http or https URL",
		"//evil.org/":           "is not in PROCESSIDEA_HTTP_ALLOW",
	} {
		s, _ := redirecting(t, 307, func(*http.Request) string { return location })
		_, err := client(t, nil, s).Do(bg, Spec{URL: s.URL}, nil, nil, "k")
		if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), want) {
			t.Errorf("%s: %v", location, e)
		}
	}
	s, _ := redirecting(t, 307, func(*http.Request) string {
		return strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	})
	c := New(Options{AllowList: "*," + strings.TrimPrefix(s.URL, "http://")})
	defer c.Close()
	_, err := c.Do(bg, Spec{URL: s.URL}, nil, nil, "k")
	if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), "is not public") {
		t.Errorf("a public list and a redirect to this host: %v", e)
	}
	if len(reached.take()) != 0 {
		t.Error("a host that is not allowed was reached")
	}
}

func TestAnotherHostGetsNeitherTheHeadersNorTheSecrets(t *testing.T) {
	t.Parallel()
	other, reached := serve(t, nil)
	env := map[string]string{"TOKEN": "t0p-secret"}
	headers := map[string]string{"Authorization": "Bearer $env:TOKEN", "X-Key": "$env:TOKEN", "Cookie": "a=b",
		"X-Own": "mine", "Content-Type": "application/json"}
	s, _ := redirecting(t, 307, func(*http.Request) string { return other.URL + "/end" })
	c := client(t, env, s, other)
	if _, err := c.Do(bg, Spec{URL: s.URL + "/?k=$env:TOKEN", Headers: headers}, object(t, `{"a":1}`), nil,
		"key"); err != nil {
		t.Fatal(err)
	}
	all := reached.take()
	if len(all) != 1 || all[0].Body != `{"a":1}` || all[0].Header.Get("Idempotency-Key") != "key" ||
		all[0].Header.Get("Content-Type") == "" {
		t.Fatalf("%+v", all)
	}
	for _, text := range []string{"t0p-secret", "X-Own", "Cookie", "Authorization"} {
		if strings.Contains(encoded(t, all), text) {
			t.Errorf("%s reached another host", text)
		}
	}
	_, err := c.Do(bg, Spec{URL: s.URL, Body: map[string]any{"k": "$env:TOKEN"}}, nil, nil, "k")
	if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), "it would carry a secret to another host") ||
		len(reached.take()) != 0 {
		t.Errorf("a secret in the body: %v", e)
	}
	// A step back does not bring them back.
	back, again := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, other.URL+"/?back="+url.QueryEscape("http://"+r.Host+"/end"),
				http.StatusTemporaryRedirect)
		}
	})
	other.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("back"), http.StatusTemporaryRedirect)
	})
	if _, err := client(t, env, back, other).Do(bg, Spec{URL: back.URL, Headers: headers}, nil, nil, "k"); err != nil {
		t.Fatal(err)
	}
	if last := again.take()[1]; last.Header.Get("Authorization") != "" {
		t.Error("a header came back by way of another host")
	}
}

func TestTheSameHostIsTheSameServerOrItsSecureOne(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		from, to string
		want     bool
	}{
		{"http://a.org/x", "http://A.org:80/y", true},
		{"http://a.org", "https://a.org", true},
		{"https://a.org", "http://a.org", false},
		{"http://a.org:8080", "https://a.org", false},
		{"https://a.org", "https://a.org:8443", false},
		{"https://a.org", "https://b.a.org", false},
		{"http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", true},
	} {
		from, _ := url.Parse(row.from)
		to, _ := url.Parse(row.to)
		if isSameHost(from, to) != row.want {
			t.Errorf("%s and %s: not %v", row.from, row.to, row.want)
		}
	}
}
