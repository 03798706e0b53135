package activities

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"processidea/model/ideafile"
	"processidea/model/prompt"
	"processidea/rehearsal"
)

// LLM is the worker's way to an OpenAI-compatible server.
type LLM struct {
	BaseURL string // empty: OpenAI's own
	Key     string // empty: sent without one, as local servers take it
	Name    string // the LLM to ask where an Idea names none
	// RPM and TPM are how many requests and tokens a minute the worker's Requests may take together; empty: no limit.
	RPM, TPM string
}

// Check says what is wrong with the address or the limits; a Request says it otherwise.
func (l LLM) Check() error {
	_, err := newPace(l)
	u, bad := url.Parse(l.BaseURL)
	switch {
	case err != nil || l.BaseURL == "":
		return err
	case bad != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("activities: read OPENAI_BASE_URL: want http://host/v1 or https://host/v1")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		return errors.New("activities: read OPENAI_BASE_URL: leave out /chat/completions")
	}
	return nil
}

// Configured says whether there is a server to ask.
func (l LLM) Configured() bool { return l.BaseURL != "" || l.Key != "" }

// DefaultLLM is asked where neither the Idea nor the worker names one.
const DefaultLLM = "gpt-5-mini"

// openAI is where requests go unless said otherwise. It is said here, since the client takes an empty OPENAI_BASE_URL for
// an address.
const openAI = "https://api.openai.com/v1/"

// wire is what all Requests of a worker go over, so that they share connections: a client of the openai library keeps its
// own, and a Request has a client of its own.
var wire = &http.Client{Transport: transport()}

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	t.ResponseHeaderTimeout = 10 * time.Minute
	t.ReadBufferSize = 64 << 10 // bytes: an LLM that speaks fast says four kilobytes with twenty tokens
	return t
}

// chat is one exchange with an LLM.
type chat struct {
	client   openai.Client
	params   openai.ChatCompletionNewParams
	form     prompt.ResponseFormat
	messages []prompt.Message
	options  []option.RequestOption
	way      way
	answer   *http.Response // the last one
	fault    *fault         // what the server said against the last request
	key      string
	alive    func() // told of every line of the answer
	pace     *pace
	turn     string // the key of its turn
}

func (l LLM) chat(config ideafile.LLM, form prompt.ResponseFormat, messages []prompt.Message) *chat {
	// Retries are Temporal's: the client's own would hide them, and repeat a stream.
	options := []option.RequestOption{option.WithHTTPClient(wire), option.WithMaxRetries(0), option.WithBaseURL(openAI)}
	if l.BaseURL != "" {
		options = append(options, option.WithBaseURL(l.BaseURL))
	}
	if l.Key != "" {
		options = append(options, option.WithAPIKey(l.Key))
	} else {
		options = append(options, option.WithHeaderDel("Authorization"))
	}
	c := &chat{form: form, messages: messages, key: l.Key, alive: func() {}}
	c.client = openai.NewClient(append(options, option.WithMiddleware(c.note))...)
	c.params = openai.ChatCompletionNewParams{
		Model:         config.Model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if c.params.Model == "" {
		c.params.Model = l.Name
	}
	if c.params.Model == "" {
		c.params.Model = DefaultLLM
	}
	if config.Temperature != nil {
		c.params.Temperature = param.NewOpt(*config.Temperature)
	}
	if config.MaxTokens > 0 {
		c.params.MaxCompletionTokens = param.NewOpt(int64(config.MaxTokens))
	}
	return c
}

// note keeps the response: where an error's body is not as OpenAI writes it, the client forgets the status.
func (c *chat) note(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	answer, err := next(r)
	c.answer = answer
	return answer, err
}

// scripted plays a replies file over HTTP on loopback to the real client.
func scripted(replies string, turn int) (l LLM, o option.RequestOption, stop func(), err error) {
	parsed, err := rehearsal.Parse([]byte(replies))
	if err != nil {
		return l, nil, nil, err
	}
	server, err := rehearsal.Start(parsed, rehearsal.WithoutLog())
	if err != nil {
		return l, nil, nil, err
	}
	return LLM{BaseURL: server.URL(), Name: "rehearsal"}, option.WithHeader(rehearsal.TurnHeader, strconv.Itoa(turn)), server.Close, nil
}
