package browser_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// startChromium starts a browser that is driven by the DevTools protocol. Each page is a tab of it, with cookies of its
// own.
func startChromium(program, dir string) (func(*testing.T) (page, error), func(), error) {
	allocator, free := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(program), chromedp.UserDataDir(dir), chromedp.Headless, chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.WSURLReadTimeout(2*time.Minute))
	browser, cancel := chromedp.NewContext(allocator)
	stop := func() { cancel(); free() }
	if err := chromedp.Do(browser); err != nil {
		stop()
		return nil, nil, err
	}
	return func(t *testing.T) (page, error) {
		ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
		t.Cleanup(cancel)
		// A tab lives as long as the context of what is done in it first.
		return &chromiumPage{ctx}, chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900))
	}, stop, nil
}

type chromiumPage struct{ ctx context.Context }

// step is something done in Chromium.
type step = chromedp.Action[chromedp.Void]

func (p *chromiumPage) do(steps ...step) error {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

// leading does something, and waits for the page that it leads to, if it does.
func (p *chromiumPage) leading(leads bool, do step) (status int, err error) {
	if !leads {
		return 0, p.do(do)
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	answer, err := chromedp.RunResponse(ctx, do)
	if err != nil {
		return 0, err
	}
	if answer == nil {
		return http.StatusOK, nil
	}
	return int(answer.Status), nil
}

func (p *chromiumPage) open(address string) (int, error) {
	return p.leading(true, chromedp.Navigate(address))
}

func (p *chromiumPage) click(what string, leads bool) (int, error) {
	return p.leading(leads, chromedp.Click(what, chromedp.NodeVisible))
}

func (p *chromiumPage) keys(keys string, leads bool) (int, error) {
	return p.leading(leads, chromedp.KeyEvent(keys))
}

// eval asks the browser, as its developer tools do: what a page forbids scripts does not concern it.
func (p *chromiumPage) eval(script string) (string, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[any](script, chromedp.EvalAwaitPromise))
	text, _ := value.(string)
	return text, err
}

func (p *chromiumPage) upload(what, file string) error {
	return p.do(chromedp.SetUploadFiles(what, []string{file}))
}

func (p *chromiumPage) width(pixels int64) error { return p.do(chromedp.EmulateViewport(pixels, 900)) }

func (p *chromiumPage) picture() ([]byte, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	const asPNG = 100
	return chromedp.Run(ctx, chromedp.FullScreenshot(asPNG))
}

func (p *chromiumPage) scheme(name string) error {
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	return err
}

func (p *chromiumPage) scripts(run bool) error {
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: !run})
	return err
}
