package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"processidea/model/turn"
)

// Each case below is something that servers which call themselves compatible with OpenAI's have been seen to do.

// pieces cuts a text into n pieces, as tokens arrive.
func pieces(text string, n int) []string {
	var out []string
	for size := (len(text) + n - 1) / n; text != ""; {
		size = min(size, len(text))
		out, text = append(out, text[:size]), text[size:]
	}
	return out
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// delta is the data of a chunk that carries a piece of the text.
func delta(text string) string {
	return `{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":` +
		quoted(text) + `}}]}`
}

const (
	finished = `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	used     = `{"id":"c1","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}}`
	done     = `[DONE]`
)

// spoken is a text as chunks, with what OpenAI's own server sends before and after.
func spoken(text string) []string {
	data := []string{`{"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null}}]}`}
	for _, p := range pieces(text, 7) {
		data = append(data, delta(p))
	}
	return append(data, finished, used, done)
}

// called is a text as the arguments of a function call, in chunks.
func called(index int, name, arguments string) []string {
	piece := func(name, arguments string) string {
		return fmt.Sprintf(
			`{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"type":"function","function":{"name":%s,"arguments":%s}}]}}]}`,
			index, quoted(name), quoted(arguments))
	}
	data := []string{piece(name, "")}
	for _, p := range pieces(arguments, 7) {
		data = append(data, piece("", p))
	}
	return append(data, strings.Replace(finished, "stop", "tool_calls", 1), used, done)
}

// chunks writes data as a stream.
func chunks(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		fmt.Fprintf(&b, "data: %s\n\n", d)
	}
	return b.String()
}

// streaming answers with a text that is a stream.
func streaming(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	}
}

func completion(message string) string {
	return `{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":` + message +
		`,"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":5}}`
}

func TestAReplyIsReadHoweverTheServerSendsIt(t *testing.T) {
	t.Parallel()
	said := spoken(solutionText)
	whole := completion(`{"role":"assistant","content":` + quoted(solutionText) + `}`)
	plain := func(contentType, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{contentType}
			_, _ = io.WriteString(w, text)
		}
	}
	with := func(at int, more ...string) http.HandlerFunc {
		return streaming(chunks(append(append(append([]string(nil), said[:at]...), more...), said[at:]...)...))
	}
	each := func(change func(string) string) http.HandlerFunc {
		var b strings.Builder
		for _, d := range said {
			b.WriteString(change("data: " + d + "\n\n"))
		}
		return streaming(b.String())
	}
	id := 0
	for name, h := range map[string]http.HandlerFunc{
		"as OpenAI does":              streaming(chunks(said...)),
		"comments keep the line open": each(func(s string) string { return ": keep-alive\n\n" + s + ":\n" }),
		"lines end with CR and LF": each(func(s string) string {
			return strings.ReplaceAll(s, "\n", "\r\n")
		}),
		"lines end with CR": each(func(s string) string {
			return strings.ReplaceAll(s, "\n", "\r")
		}),
		"no space after the colon": each(func(s string) string {
			return strings.Replace(s, "data: ", "data:", 1)
		}),
		"events have names and ids": each(func(s string) string {
			return "event: message\nid: 4\nretry: 10\n" + s
		}),
		"no empty line between events":     each(func(s string) string { return strings.TrimSuffix(s, "\n") }),
		"no line end after the last event": streaming(strings.TrimRight(chunks(said[:len(said)-1]...), "\n")),
		"it begins with a byte order mark": streaming("\uFEFF" + chunks(said[1:]...)),
		"the content begins with one":      streaming(chunks(spoken("\uFEFF" + solutionText)...)),
		"nobody says that it is done":      streaming(chunks(said[:len(said)-1]...)),
		"it ends without a finish reason":  streaming(chunks(said[:len(said)-3]...)),
		"it finishes twice":                with(len(said)-2, finished, finished),
		"empty events keep the line open": each(func(s string) string {
			return "data:\n\nevent: ping\ndata: ping\n\ndata: \n\n" + s
		}),
		"usage where Groq had it": each(func(s string) string {
			return strings.NewReplacer(`"usage":{`, `"usage":null,"x_groq":{"usage":{`, `"total_tokens":12}`,
				`"total_tokens":12}}`).Replace(s)
		}),
		"all at once, with a delta that is null": plain("application/json",
			strings.Replace(whole, `"message"`, `"delta":null,"message"`, 1)),
		"as a whole message in an event, with a delta that is null": streaming(
			chunks(strings.Replace(whole, `"message"`, `"delta":null,"message"`, 1), done)),
		"every chunk has another id": each(func(s string) string {
			id++
			return strings.Replace(s, `"c1"`, fmt.Sprintf(`"c%d"`, id), 1)
		}),
		"every chunk says that no error was": each(func(s string) string {
			return strings.Replace(s, `{"id"`, `{"error":null,"id"`, 1)
		}),
		"every chunk has an error of no words": each(func(s string) string {
			return strings.NewReplacer(`{"id"`, `{"error":{"code":0,"message":""},"base_resp":{"status_code":0},"id"`,
				`{"role"`, `{"error":"","role"`).Replace(s)
		}),
		"usage in other words": streaming(strings.NewReplacer(`"prompt_tokens":7`, `"input_tokens":"7"`,
			`"completion_tokens":5`, `"output_tokens":5.0`).Replace(chunks(said...))),
		"it thinks in two blocks": streaming(
			chunks(spoken("<think>One.</think>\n<think>{\"calls\":[]}</think>" + solutionText)...)),
		"the role comes alone": streaming(
			chunks(append([]string{`{"choices":[{"index":0,"delta":{"role":"assistant"}}]}`}, said[1:]...)...)),
		"empty choices come first": with(0, `{"id":"","choices":[],"prompt_filter_results":[]}`),
		"choices are null":         with(1, `{"id":"c1","choices":null}`),
		"content is null": with(1,
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}`),
		"what it says is of other types": with(1,
			`{"choices":[{"index":"0","delta":["x"],"finish_reason":7},"x",null],"usage":"none"}`,
			`{"choices":{"index":0,"delta":{"content":"x"}},"usage":[1]}`,
			`{"choices":[{"index":0,"delta":{"content":{"text":"x"},"refusal":false}}]}`, `[]`),
		"it thinks aloud beside the content": with(1,
			`{"choices":[{"index":0,"delta":{"reasoning_content":"I could {\"calls\"","content":null}}]}`,
			`{"choices":[{"index":0,"delta":{"reasoning":"Hm.","content":""}}]}`),
		"it thinks aloud in the content": streaming(
			chunks(spoken("<think>\nOne {\"calls\":[]} or\n```json\n{}\n```?\n</think>\n\n" + solutionText)...)),
		"in a Markdown fence": streaming(chunks(spoken("```json\n" + solutionText + "\n```")...)),
		"in a fence, with prose around it": streaming(
			chunks(spoken("Here is the plan {as asked}:\n\n```json\n" + solutionText +
				"\n```\nTell me if {it} helps.")...)),
		"in a fence of no language": streaming(chunks(spoken("Sure!\n```\n" + solutionText + "\n```")...)),
		"usage in the choice": streaming(chunks(append(append([]string{}, said[:len(said)-3]...),
			`{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":7,"completion_tokens":5}}]}`)...)),
		"of the older interface": plain("application/json", `{"object":"text_completion","choices":[{"index":0,"text":`+
			quoted(solutionText)+`}],"usage":{"prompt_tokens":7,"completion_tokens":5}}`),
		"all at once, parsed": plain("application/json", completion(`{"role":"assistant","content":`+solutionText+`}`)),
		"a second choice": with(3,
			`{"choices":[{"index":1,"delta":{"content":"{\"calls\":[]}"},"finish_reason":"stop"}]}`),
		"usage comes with every chunk": each(func(s string) string {
			return strings.Replace(s, `"id"`, `"usage":{"prompt_tokens":7,"completion_tokens":5},"id"`, 1)
		}),
		"as a whole message in an event": streaming(chunks(whole, done)),
		"as a whole message, again, behind the pieces": streaming(chunks(append(slices.Clone(said[:len(said)-3]),
			whole, done)...)),
		"as parts of a list": each(func(s string) string {
			return regexp.MustCompile(`"content":("(?:[^"\\]|\\.)*")`).ReplaceAllString(s,
				`"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":$1}]`)
		}),
		"as a function call": streaming(chunks(called(0, "solution", solutionText)...)),
		"as a function call, with prose": streaming(
			chunks(append([]string{delta("I will call {it} now.")}, called(0, "solution", solutionText)...)...)),
		"as a function call, older form": each(func(s string) string {
			return regexp.MustCompile(`{"content":("(?:[^"\\]|\\.)*")}`).ReplaceAllString(s,
				`{"function_call":{"arguments":$1}}`)
		}),
		"all at once, though asked to stream": plain("application/json", whole),
		"all at once, as a function call": plain("application/json",
			completion(
				`{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"json","arguments":`+quoted(solutionText)+`}}]}`)),
		"all at once, as parts of a list": plain("application/json",
			completion(`{"role":"assistant","content":[{"type":"text","text":`+quoted(solutionText)+`}]}`)),
		"all at once, written over many lines": plain("application/json; charset=utf-8",
			strings.NewReplacer(`{"`, "{\n  \"", `,"`, ",\n  \"").Replace(
				completion(`{"role":"assistant","content":`+strings.NewReplacer(`{`, `\u007b`, `,`,
					`\u002c`).Replace(quoted(solutionText))+`}`))),
		"all at once, and called plain text": plain("text/plain", whole),
		"a stream that is called JSON":       plain("application/json", chunks(said...)),
		"chunks as lines of JSON": plain("application/x-ndjson",
			strings.Join(said[:len(said)-1], "\n")+"\n"),
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := replying(t, h)
			if err != nil || !reply.Whole {
				t.Fatalf("%v %+v", err, reply)
			}
			if len(reply.Calls) != 1 || reply.Calls[0] != `{"_tool":"shout","text":"hi","_outputPath":"loud"}` ||
				string(reply.Output) != "null" {
				t.Errorf("%q, output %s", reply.Calls, reply.Output)
			}
			if strings.Contains(name, "finish reason") == (reply.Usage == turn.TokenUsage{PromptTokens: 7,
				CompletionTokens: 5}) {
				t.Errorf("usage %+v", reply.Usage)
			}
		})
	}
}

func TestFunctionCallsThatAreNoReplyAreNamed(t *testing.T) {
	t.Parallel()
	for want, data := range map[string][]string{
		`a call of the function "shout", and its arguments are not of the form: unknown key "text"`: called(0, "shout",
			`{"text":"hi"}`),
		`2 function calls ("shout", "whisper"), and only the first was read`: append(called(0,
			"shout", `{"text":"hi"}`)[:8], called(1, "whisper", `{"text":"ho"}`)...),
		`2 function calls ("solution", "solution"), and only the first was read`: append(called(0,
			"solution", solutionText)[:8], called(1, "solution", solutionText)...),
	} {
		reply, err := replying(t, streaming(chunks(data...)))
		if err != nil || reply.Whole || reply.IncompleteFault == nil ||
			reply.IncompleteFault.Code != turn.CodeNotJSON ||
			!strings.Contains(reply.IncompleteFault.Message, want) {
			t.Errorf("%v %+v", err, reply.IncompleteFault)
		}
	}
}

// An event is there with the line that ends it, whatever ends its lines, and however its bytes arrive.
func TestEventsAreReadByteByByteWhateverEndsTheirLines(t *testing.T) {
	t.Parallel()
	text := "\ndata: {\"a\":1}\n: alive\n\nevent: message\ndata: {\"a\":\ndata: 2}\n\ndata: [DONE]\n\n"
	for _, end := range []string{"\n", "\r\n", "\r"} {
		for name, in := range map[string]func(io.Reader) io.Reader{"whole": iotest.DataErrReader, "in bytes": iotest.OneByteReader} {
			var read []string
			lines := 0
			e := newEventReader(&http.Response{Body: io.NopCloser(in(strings.NewReader(strings.ReplaceAll(text, "\n", end))))},
				func() { lines++ })
			for e.Next() {
				read = append(read, strings.ReplaceAll(string(e.data), "\n", ""))
			}
			if got := strings.Join(read, " "); got != `{"a":1} {"a":2} [DONE]` || lines != strings.Count(text, "\n") || e.Err() != nil {
				t.Errorf("lines end with %q, %s: %s of %d lines, %v", end, name, got, lines, e.Err())
			}
		}
	}
}
