package sample

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// formats holds a text for each format that JSON Schema names.
var formats = map[string]string{
	"date-time": "2000-01-01T00:00:00Z", "date": "2000-01-01", "time": "00:00:00Z", "duration": "P1D",
	"email": "simulated@example.com", "idn-email": "simulated@example.com", "hostname": "simulated.example", "idn-hostname": "simulated.example",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uri": "https://example.com/simulated", "uri-reference": "/simulated",
	"iri": "https://example.com/simulated", "iri-reference": "/simulated", "uri-template": "/simulated/{id}",
	"uuid": "00000000-0000-4000-8000-000000000000", "json-pointer": "/simulated", "relative-json-pointer": "0", "regex": "simulated",
}

// makeTexts makes up to n texts.
func makeTexts(m map[string]any, n int) []any {
	least, most := nonNegativeIntKeyword(m, "minLength", 0), nonNegativeIntKeyword(m, "maxLength", maxLength)
	if least > maxLength || least > most {
		return nil
	}
	var out []any
	if text, ok := formats[fmt.Sprint(m["format"])]; ok {
		for k := range n {
			out = append(out, textVariant(text, k))
		}
	}
	if pattern, ok := m["pattern"].(string); ok {
		for _, text := range textsMatching(pattern, least, n) {
			out = append(out, text)
		}
	}
	if len(out) > 0 {
		return out
	}
	for k := range n {
		out = append(out, fitTextLength(SimulatedText, k, least, most))
	}
	return out
}

// textVariant gives the kth text like one of formats: it changes a part that may be changed.
func textVariant(text string, k int) string {
	if k == 0 {
		return text
	}
	number := fmt.Sprint(k)
	for _, place := range []string{"simulated", "000000000000", "P1", "2000", "192.0.2.", "db8::"} {
		at := strings.Index(text, place)
		switch {
		case at < 0:
		case place == "000000000000":
			return text[:len(text)-len(number)] + number
		case place == "2000":
			return strings.Replace(text, place, fmt.Sprint(2000+k), 1)
		case place == "P1":
			return strings.Replace(text, place, "P"+fmt.Sprint(1+k), 1)
		case place == "192.0.2.":
			return place + fmt.Sprint(k%250+2)
		default:
			return text[:at+len(place)] + number + text[at+len(place):]
		}
	}
	return text
}

// fitTextLength makes the kth text of at least and at most so many characters.
func fitTextLength(text string, k, least, most int) string {
	if k > 0 {
		text = fmt.Sprintf("%s %d", text, k+1)
	}
	if pad := least - len(text); pad > 0 {
		text += repeatRune('.', pad)
	}
	if len(text) <= most {
		return text
	}
	letters := []rune(SimulatedText[:min(most, len(SimulatedText))])
	letters = append(letters, []rune(repeatRune('a', max(least, most)-len(letters)))...)[:most]
	for at := len(letters) - 1; at >= 0 && k > 0; at, k = at-1, k/26 {
		letters[at] = 'a' + (letters[at]-'a'+rune(k%26))%26
	}
	return string(letters)
}

func repeatRune(r rune, n int) string { return strings.Repeat(string(r), max(n, 0)) }

// textsMatching makes up to n texts of at least so many characters that match a pattern.
func textsMatching(pattern string, least, n int) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	re = re.Simplify()
	whole, err := regexp.Compile(pattern)
	var out []string
	for k := 0; k < 3*n && err == nil && len(out) < n; k++ {
		for more := range 3 {
			text := generateMatch(re, more*max(least, 1), k)
			if pad := least - len([]rune(text)); pad > 0 && more == 2 {
				text += repeatRune('a', pad)
			}
			if len([]rune(text)) >= least && whole.MatchString(text) && !slices.Contains(out, text) {
				out = append(out, text)
				break
			}
		}
	}
	return out
}

// generateMatch writes a text that matches a pattern. It repeats more times what may be repeated, and takes the kth character of a
// class and the kth alternative.
func generateMatch(re *syntax.Regexp, more, k int) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(runeFromClass(re.Rune, k))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return string(rune('a' + k%26))
	case syntax.OpCapture:
		return generateMatch(re.Sub[0], more, k)
	case syntax.OpStar:
		return strings.Repeat(generateMatch(re.Sub[0], 0, k), more)
	case syntax.OpPlus:
		return strings.Repeat(generateMatch(re.Sub[0], 0, k), max(more, 1))
	case syntax.OpQuest:
		return strings.Repeat(generateMatch(re.Sub[0], more, k), min(more, 1))
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(generateMatch(sub, more, k))
			if b.Len() > maxLength {
				break
			}
		}
		return b.String()
	case syntax.OpAlternate:
		return generateMatch(re.Sub[k%len(re.Sub)], more, k/len(re.Sub))
	}
	return "" // an anchor or a word boundary
}

// runeFromClass gives the kth character of a class, letters and digits first.
func runeFromClass(ranges []rune, k int) rune {
	var plain, other []rune
	for n := 0; n+1 < len(ranges) && len(plain) <= k; n += 2 {
		for r := ranges[n]; r <= ranges[n+1] && r < ranges[n]+200; r++ {
			switch {
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				plain = append(plain, r)
			case unicode.IsPrint(r):
				other = append(other, r)
			}
		}
	}
	if all := append(plain, other...); len(all) > 0 {
		return all[k%len(all)]
	}
	if len(ranges) > 0 {
		return ranges[0]
	}
	return 'a'
}
