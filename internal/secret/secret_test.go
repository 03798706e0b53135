package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const token = `s3cr&t/"é-val ue+\😀`

// encoders are the ways in which tools write what they repeat.
var encoders = map[string]func(string) string{
	"as it is": func(s string) string { return s },
	"JSON":     func(s string) string { b, _ := json.Marshal(s); return string(b) },
	"JSON, not for HTML": func(s string) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(s)
		return b.String()
	},
	"JSON in ASCII": jsonASCII,
	"JSON with escaped /": func(s string) string {
		b, _ := json.Marshal(s)
		return strings.ReplaceAll(string(b), "/", `\/`)
	},
	"a Go string":           func(s string) string { return fmt.Sprintf("%+q", s) },
	"bytes of a program":    func(s string) string { return hexEach(`\x%02x`, s) },
	"a query":               url.QueryEscape,
	"a path":                url.PathEscape,
	"a query in lower case": func(s string) string { return lowerHex(url.QueryEscape(s)) },
	"all percent-encoded":   func(s string) string { return hexEach("%%%02X", s) },
	"HTML":                  html.EscapeString,
	"HTML by numbers":       func(s string) string { return eachRune("&#%d;", s) },
	"HTML by hex":           func(s string) string { return eachRune("&#x%X;", s) },
	"base64":                func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 for URLs":       func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"basic authentication":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) },
	"base64 of more": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte("it is " + s + ", you know"))
	},
	"base64 of JSON": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte(`{"token":"` + s + `"}`))
	},
	"hex": func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hex in capitals": func(s string) string {
		return strings.ToUpper(hex.EncodeToString([]byte("x" + s + "y")))
	},
}

func hexEach(format, s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func eachRune(format, s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

func jsonASCII(s string) string {
	encoded, _ := json.Marshal(s)
	var b strings.Builder
	for _, r := range string(encoded) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\u%04X\u%04X`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		}
	}
	return b.String()
}

func lowerHex(s string) string {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '%' {
			s = s[:i] + strings.ToLower(s[i:i+3]) + s[i+3:]
		}
	}
	return s
}

func TestASecretIsStruckOutHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	s := NewRedactor(map[string]string{"TOKEN": token})
	for name, encode := range encoders {
		text := "before " + encode(token) + " after"
		got := s.RedactText(text)
		if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") ||
			!strings.Contains(got, "[secret TOKEN]") {
			t.Errorf("%s: %s became %s", name, text, got)
		}
		// Not much more than the mark is left of it.
		if rest := strings.Replace(got, "[secret TOKEN]", "", 1); len(rest) > len("before  after")+
			len("it is , you know")*2 {
			t.Errorf("%s: %s became %s", name, text, got)
		}
	}
}

func TestASecretIsStruckOutInLettersOfAnotherCase(t *testing.T) {
	t.Parallel()
	const value = `s3cr&t/"Val ue+TAIL`
	for name, letters := range map[string]string{
		"capitals": ascii(value, 'a', 'z', 'A'), "small letters": ascii(value, 'A', 'Z', 'a'),
	} {
		for _, how := range []string{"as it is", "JSON", "JSON in ASCII", "a query", "a path", "HTML"} {
			if got := NewRedactor(map[string]string{"KEY": value}).RedactText("<" + encoders[how](letters) +
				">"); !strings.Contains(got, "[secret KEY]") || strings.Contains(strings.ToLower(got), "s3cr") {
				t.Errorf("%s, %s: %s", name, how, got)
			}
		}
	}
}

// ascii writes letters of a range as those from another one on.
func ascii(s string, from, to, as byte) string {
	b := []byte(s)
	for i, c := range b {
		if from <= c && c <= to {
			b[i] = c - from + as
		}
	}
	return string(b)
}

func TestASecretIsStruckOutWhereOneWritingIsWithinAnother(t *testing.T) {
	t.Parallel()
	names := []string{}
	for name := range encoders {
		if !strings.Contains(name, "base64") && !strings.Contains(name, "hex") && !strings.Contains(name, "basic") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	all := slices.Sorted(func(yield func(string) bool) {
		for name := range encoders {
			if !yield(name) {
				return
			}
		}
	})
	// No backslash: one at the end of a secret can mean two things in what follows it.
	alphabet := rapid.StringOfN(rapid.RuneFrom([]rune(`abcXYZ019-_./+=&<>"'%é😀 `)), 8, 40, -1)
	rapid.Check(t, func(t *rapid.T) {
		value := strings.TrimSpace(alphabet.Draw(t, "value"))
		if len(value) < minBase64SecretBytes {
			t.Skip("too short to be found everywhere")
		}
		inner := rapid.SampledFrom(all).Draw(t, "inner")
		outer := rapid.SampledFrom(names).Draw(t, "outer")
		text := encoders[outer]("<" + encoders[inner](value) + ">")
		if got := NewRedactor(map[string]string{"N": value}).RedactText(text); !strings.Contains(got, "[secret N]") {
			t.Fatalf("%s within %s: %s became %s", inner, outer, text, got)
		}
	})
}

func TestWhatHoldsNoSecretStaysAsItIs(t *testing.T) {
	t.Parallel()
	s := NewRedactor(map[string]string{"A": "s3cr3t-value", "B": "another one"})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune(`as3cr-t %\&;ux02fn"é+=`))).Draw(t, "text")
		if got := s.RedactText(text); got != text && !strings.Contains(got, "[secret") {
			t.Fatalf("%q became %q", text, got)
		}
	})
	for _, text := range []string{"", "s3cr3t-valu", `50% of \users\new & more; &amp; %2`, `\`, `\u`, `\ud83d`, `%`,
		`&`, `&#;`, `\x`, `&#x110000;`} {
		if got := s.RedactText(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if (*Redactor)(nil).RedactText("x") != "x" || (*Redactor)(nil).RedactValue("x") != "x" {
		t.Error("nothing strikes something")
	}
}

func TestWhatStandsAroundASecretStays(t *testing.T) {
	t.Parallel()
	s := NewRedactor(map[string]string{"TOKEN": "top/secret"})
	for text, want := range map[string]string{
		`{"a":"x%20y","b":"top\/secret","c":"é"}`:       `{"a":"x%20y","b":"[secret TOKEN]","c":"é"}`,
		`a%2Fb top%2Fsecret %2F`:                        `a%2Fb [secret TOKEN] %2F`,
		`top/secrettop/secret`:                          `[secret TOKEN][secret TOKEN]`,
		`{\"in\":\"top\\/secret\"}`:                     `{\"in\":\"[secret TOKEN]\"}`,
		`&lt;top&#47;secret&gt;`:                        `&lt;[secret TOKEN]&gt;`,
		`746f702f736563726574 and 746F702F736563726574`: `[secret TOKEN] and [secret TOKEN]`,
		`Basic dG9wL3NlY3JldA==, bye`:                   `Basic [secret TOKEN], bye`,
	} {
		if got := s.RedactText(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

func TestSecretsThatOverlapAreAllGone(t *testing.T) {
	t.Parallel()
	s := NewRedactor(map[string]string{"SHORT": "abcd", "LONG": "abcdef", "NEXT": "efgh", "SAME": "abcdef",
		"TINY": "abc", "EMPTY": ""})
	for text, want := range map[string]string{
		"abcdef abcd": "[secret LONG] [secret SHORT]", "abcdefgh!": "[secret LONG]!", "abc": "abc",
		"xabcdx": "x[secret SHORT]x",
	} {
		if got := s.RedactText(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	if NewRedactor(map[string]string{"TINY": "abc"}) != nil {
		t.Error("a tiny one is a secret")
	}
}

func TestEveryStringKeyAndNumberOfAValueIsStruck(t *testing.T) {
	t.Parallel()
	s := NewRedactor(map[string]string{"TOKEN": "top/secret", "PIN": "12345678"})
	v := map[string]any{
		"top/secret": "key", "deep": []any{"Bearer top/secret", map[string]any{"x": `{"y":"top\/secret"}`}},
		"n": json.Number("1"), "pin": json.Number("12345678"), "b": true, "z": nil,
	}
	got, _ := json.Marshal(s.RedactValue(v))
	want := `{"[secret TOKEN]":"key","b":true,"deep":["Bearer [secret TOKEN]",{"x":"{\"y\":\"[secret TOKEN]\"}"}],"n":1,"pin":"[secret PIN]","z":null}`
	if string(got) != want {
		t.Errorf("%s", got)
	}
}

func TestThePasswordOfBasicAuthenticationIsASecretToo(t *testing.T) {
	t.Parallel()
	s := NewRedactor(map[string]string{"BASIC": base64.StdEncoding.EncodeToString([]byte("ada:pa55word"))})
	if got := s.RedactText(
		"user ada, password pa55word, ada:pa55word"); got != "user ada, password [secret BASIC], [secret BASIC]" {
		t.Error(got)
	}
	random := base64.StdEncoding.EncodeToString([]byte{0, 1, ':', 3, 4, 5, 6, 7, 8, 9})
	if n := len(NewRedactor(map[string]string{"KEY": random}).searchedSecrets); n != 1 {
		t.Errorf("%d needles", n)
	}
}

func BenchmarkLongTextWithoutSecrets(b *testing.B) {
	s := NewRedactor(map[string]string{"TOKEN": token})
	text := strings.Repeat(`{"name":"Ada","path":"a\/b","q":"%20"},`, 1<<14)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.RedactText(text)
	}
}
