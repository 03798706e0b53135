package browser_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// firefox is a browser that is driven by WebDriver BiDi (https://w3c.github.io/webdriver-bidi), in which each message
// is JSON over one websocket.
type firefox struct {
	conn   *websocket.Conn
	chrome string // the context of the browser's own window, where its preferences are set

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	begun   map[string]string     // the latest navigation of each context
	loaded  map[string]navigation // the latest page of each context
	status  map[string]int        // of the answer to each navigation
	changed chan struct{}         // closed when begun or loaded is another, or the browser is gone
	gone    error
}

type message struct {
	ID      int             `json:"id"`
	Method  string          `json:"method"`
	Params  event           `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   string          `json:"error"`
	Message string          `json:"message"`
}

type event struct {
	Context    string `json:"context"`
	Navigation string `json:"navigation"`
	Response   struct {
		Status int `json:"status"`
	} `json:"response"`
}

type navigation struct {
	id     string
	status int
}

type object = map[string]any

// startTime is how long Firefox may take until it does anything: it starts all of itself then.
const startTime = 5 * patience

func startFirefox(program, dir string) (*firefox, func(), error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(context.Background(), program, "--headless", "--no-remote", "--profile", dir,
		"--remote-debugging-port", "0",
		"--remote-allow-system-access", "about:blank")
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, nil, err
	}
	stop := func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "WebDriver BiDi listening on "); ok {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			f, err := dialFirefox(address)
			if err != nil {
				stop()
			}
			return f, stop, err
		}
	}
	stop()
	return nil, nil, errors.New("Firefox ended before it listened")
}

func dialFirefox(address string) (*firefox, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, address+"/session", nil) //nolint:bodyclose // of a connection that is taken over there is none
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(64 << 20)
	f := &firefox{conn: conn, waiting: map[int]chan message{}, begun: map[string]string{},
		loaded: map[string]navigation{}, status: map[string]int{}, changed: make(chan struct{})}
	go f.read()
	var tree struct{ Contexts []struct{ Context string } }
	err = f.callFor(startTime, "session.new", object{"capabilities": object{}}, nil)
	if err == nil {
		err = f.call("session.subscribe",
			object{"events": []string{"browsingContext.navigationStarted", "browsingContext.load",
				"network.responseCompleted"}}, nil)
	}
	if err == nil {
		err = f.call("browsingContext.getTree", object{"moz:scope": "chrome"}, &tree)
	}
	if err == nil && len(tree.Contexts) == 0 {
		err = errors.New("Firefox shows no window of its own")
	}
	if err == nil {
		f.chrome = tree.Contexts[0].Context
	}
	return f, err
}

// read takes what Firefox sends: answers, and that pages were loaded.
func (f *firefox) read() {
	for {
		var m message
		err := wsjson.Read(context.Background(), f.conn, &m)
		f.mu.Lock()
		switch {
		case err != nil:
			f.gone = fmt.Errorf("Firefox is gone: %w", err)
			for _, answer := range f.waiting {
				answer <- message{Error: "gone", Message: f.gone.Error()}
			}
			clear(f.waiting)
			close(f.changed)
			f.mu.Unlock()
			return
		case m.Method == "network.responseCompleted" && m.Params.Navigation != "":
			f.status[m.Params.Navigation] = m.Params.Response.Status // of the last one, where some lead on
		case m.Method == "browsingContext.navigationStarted":
			f.begun[m.Params.Context] = m.Params.Navigation
			close(f.changed)
			f.changed = make(chan struct{})
		case m.Method == "browsingContext.load" && m.Params.Navigation != "":
			f.loaded[m.Params.Context] = navigation{m.Params.Navigation, f.status[m.Params.Navigation]}
			close(f.changed)
			f.changed = make(chan struct{})
		case f.waiting[m.ID] != nil:
			f.waiting[m.ID] <- m
			delete(f.waiting, m.ID)
		}
		f.mu.Unlock()
	}
}

// call sends a command and reads its answer into result, unless that is nil.
func (f *firefox) call(method string, params, result any) error {
	return f.callFor(patience, method, params, result)
}

func (f *firefox) callFor(patience time.Duration, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer := make(chan message, 1)
	f.mu.Lock()
	f.last++
	id, gone := f.last, f.gone
	f.waiting[id] = answer
	f.mu.Unlock()
	if gone != nil {
		return gone
	}
	if err := wsjson.Write(ctx, f.conn, object{"id": id, "method": method, "params": params}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	case m := <-answer:
		if m.Error != "" {
			return fmt.Errorf("%s: %s: %s", method, m.Error, m.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	}
}

// after waits until another page than one that was there before is loaded in a context.
func (f *firefox) after(before navigation, in string) (status int, err error) {
	err = f.await(patience, func() bool { return f.loaded[in].id != before.id })
	if err != nil {
		return 0, fmt.Errorf("no other page is loaded: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.loaded[in].status, nil
}

// await waits until what Firefox has sent comes to something.
func (f *firefox) await(patience time.Duration, holds func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		f.mu.Lock()
		held, changed, gone := holds(), f.changed, f.gone
		f.mu.Unlock()
		switch {
		case held:
			return nil
		case gone != nil:
			return gone
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// evaluate gives the text that a script comes to; of anything else, nothing.
func (f *firefox) evaluate(in, script string) (string, error) {
	var answer struct {
		Type   string
		Result struct{ Value json.RawMessage }
		Thrown struct{ Text string } `json:"exceptionDetails"`
	}
	err := f.call("script.evaluate", object{"expression": script, "target": object{"context": in},
		"awaitPromise": true}, &answer)
	if err == nil && answer.Type != "success" {
		err = errors.New(answer.Thrown.Text)
	}
	var text string
	_ = json.Unmarshal(answer.Result.Value, &text)
	return text, err
}

// prefer sets a preference, for all pages.
func (f *firefox) prefer(kind, name string, value any) error {
	_, err := f.evaluate(f.chrome, fmt.Sprintf("Services.prefs.set%sPref(%s, %s)", kind, jsonText(name),
		jsonText(value)))
	return err
}

// firefoxPage is a page in a window of its own, with cookies of its own.
type firefoxPage struct {
	*firefox
	context string
}

func (f *firefox) newPage(t *testing.T) (page, error) {
	var user struct{ UserContext string }
	if err := f.call("browser.createUserContext", object{}, &user); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = f.call("browser.removeUserContext", user, nil) }) // which closes the window
	p := &firefoxPage{firefox: f}
	var window struct{ Context string }
	err := f.call("browsingContext.create", object{"type": "window", "userContext": user.UserContext}, &window)
	p.context = window.Context
	return p, err
}

func (p *firefoxPage) open(address string) (status int, err error) {
	return p.leading(true, func() error {
		return p.call("browsingContext.navigate", object{"context": p.context, "url": address, "wait": "none"}, nil)
	})
}

// leading does something, and waits for the page that it leads to, if it does.
func (p *firefoxPage) leading(leads bool, do func() error) (status int, err error) {
	p.mu.Lock()
	before := p.loaded[p.context]
	p.mu.Unlock()
	if err := do(); err != nil || !leads {
		return 0, err
	}
	return p.after(before, p.context)
}

// middle brings an element into view, and gives where its middle is. It must be seen there.
const middle = `((e) => {
	if (!e) throw new Error("there is no such element");
	e.scrollIntoView({block: "center", inline: "nearest", behavior: "instant"});
	const r = e.getClientRects()[0];
	if (!r) throw new Error("it is not shown");
	const [x, y] = [Math.floor(r.x + r.width / 2), Math.floor(r.y + r.height / 2)], at = document.elementFromPoint(x, y);
	if (!at || !e.contains(at) && !at.contains(e)) throw new Error("it is covered by " + (at && at.outerHTML.slice(0, 200)));
	return JSON.stringify({x, y}) })`

// leadsWithin is after how long a click that leads to another page has begun to.
const leadsWithin = 10 * time.Second

// click presses the button where an element is, and lets it go once the element says that it is pressed: on a busy
// machine the page can scroll with a later frame than the one by which the place was computed, so that what is pressed
// is something else; or when the button is let go, so that nothing is clicked.
func (p *firefoxPage) click(what string, leads bool) (status int, err error) {
	p.mu.Lock()
	before, begun := p.loaded[p.context], p.begun[p.context]
	p.mu.Unlock()
	for range 10 {
		pressed, err := p.press(what)
		if err == nil && !pressed { // let go elsewhere, nothing is clicked
			err = p.perform("pointer", object{"type": "pointerMove", "x": 0, "y": 0})
		}
		if err == nil {
			err = p.perform("pointer", object{"type": "pointerUp", "button": 0})
		}
		switch {
		case err != nil:
			return 0, fmt.Errorf("click %s: %w", what, err)
		case pressed && !leads:
			return 0, nil
		case pressed && p.await(leadsWithin, func() bool { return p.begun[p.context] != begun }) == nil:
			return p.after(before, p.context)
		}
	}
	return 0, fmt.Errorf("click %s: the page scrolls away from under the pointer", what)
}

func (p *firefoxPage) press(what string) (pressed bool, err error) {
	text, err := p.eval(middle + "(" + found(what) + ")")
	if err != nil {
		return false, err
	}
	var at struct {
		X int `json:"x"`
		Y int `json:"y"`
	}
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return false, err
	}
	err = p.perform("pointer", object{"type": "pointerMove", "x": at.X, "y": at.Y}, object{"type": "pointerDown", "button": 0})
	if err != nil {
		return false, err
	}
	active, err := p.eval("String(" + found(what) + `.matches(":active"))`)
	return active == "true", err
}

// webDriverKeys are the keys that write nothing, as WebDriver names them.
var webDriverKeys = strings.NewReplacer(kb.Tab, "\ue004", kb.Enter, "\ue007", kb.Delete, "\ue017")

func (p *firefoxPage) keys(keys string, leads bool) (status int, err error) {
	var actions []object
	for _, key := range webDriverKeys.Replace(keys) {
		actions = append(actions, object{"type": "keyDown", "value": string(key)},
			object{"type": "keyUp", "value": string(key)})
	}
	return p.leading(leads, func() error { return p.perform("key", actions...) })
}

func (p *firefoxPage) perform(kind string, actions ...object) error {
	return p.call("input.performActions",
		object{"context": p.context, "actions": []object{{"type": kind, "id": kind, "actions": actions}}}, nil)
}

func (p *firefoxPage) eval(script string) (string, error) { return p.evaluate(p.context, script) }

func (p *firefoxPage) upload(what, file string) error {
	var located struct{ Nodes []struct{ SharedID string } }
	err := p.call("browsingContext.locateNodes",
		object{"context": p.context, "locator": object{"type": "css", "value": what}}, &located)
	if err == nil && len(located.Nodes) != 1 {
		err = fmt.Errorf("%d elements are %s", len(located.Nodes), what)
	}
	if err != nil {
		return err
	}
	return p.call("input.setFiles",
		object{"context": p.context, "element": object{"sharedId": located.Nodes[0].SharedID}, "files": []string{file}},
		nil)
}

func (p *firefoxPage) width(pixels int64) error {
	return p.call("browsingContext.setViewport",
		object{"context": p.context, "viewport": object{"width": pixels, "height": 900}}, nil)
}

func (p *firefoxPage) picture() ([]byte, error) {
	var taken struct{ Data []byte } // base64 in JSON
	err := p.call("browsingContext.captureScreenshot", object{"context": p.context, "origin": "document"}, &taken)
	return taken.Data, err
}

// schemes are the values of the preference that has pages be dark, light, or as the desktop is.
var schemes = map[string]int{"dark": 0, "light": 1, "": 2}

func (p *firefoxPage) scheme(name string) error {
	return p.prefer("Int", "layout.css.prefers-color-scheme.content-override", schemes[name])
}

func (p *firefoxPage) scripts(run bool) error { return p.prefer("Bool", "javascript.enabled", run) }
