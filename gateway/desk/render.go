package desk

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"processidea/client"
	"processidea/client/readable"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/desk/form"
	"processidea/gateway/desk/wording"
	"processidea/model/approval"
	"processidea/model/ideafile/shown"
	"processidea/model/ideafile/spelling"
	"processidea/store/blobs"
)

//go:embed templates assets
var embeddedFiles embed.FS

// frame is the data around every page.
type frame struct {
	Title           string
	PersonName      string // empty: nobody is logged in
	HasRight        map[string]bool
	AssetsPath      string // the folder of what pages load
	Path            string // of the page's address
	Now             time.Time
	ReloadsItself   bool // the page reloads itself, if scripts run
	PasskeysEnabled bool // people sign with passkeys here
	// Process is the id of the process in the address, and Href its page. ProcessTitle is what people call it; without
	// a title, its id.
	Process, ProcessTitle, Href string
}

// ShowsWorkPages reports whether the pages of waiting and running work are offered. People who are not logged in are
// asked to log in there.
func (f frame) ShowsWorkPages() bool { return f.PersonName == "" || f.HasRight[string(access.Look)] }

// AriaCurrent says where in the menu a page stands: "page" at its own link, and "true" at that of its section.
func (f frame) AriaCurrent(href string) string {
	section := f.Path
	if after, _ := strings.CutPrefix(f.Path, "/desk/"); after != f.Path {
		section = map[string]string{"calls": "/", "plans": "/", "outcome": "/", "decide": "/", "sign": "/",
			"processes": "/desk/processes"}[strings.Split(after, "/")[0]]
	}
	switch href {
	case f.Path:
		return "page"
	case section:
		return "true"
	}
	return ""
}

func (v *visit) frame(title string) frame {
	f := frame{Title: cmp.Or(title, "It did not work"), PersonName: v.user.Name, AssetsPath: assetsPath(),
		Path: v.URL.Path,
		Now:  time.Now(), HasRight: map[string]bool{}, PasskeysEnabled: v.DeciderKeys != nil, Process: v.processID,
		Href: processHref(v.processID)}
	for _, right := range v.user.Rights {
		f.HasRight[string(right)] = true
	}
	return f
}

// processFrame is the frame of a page about the process of the address. In its title, %s is what people call that.
func (v *visit) processFrame(title string) frame {
	f := v.frame(title)
	f.ProcessTitle = clipName(cmp.Or(v.Client.Process(v.processID).Presenter(v.Context()).ProcessTitle, v.processID))
	f.Title = strings.Replace(f.Title, "%s", f.ProcessTitle, 1)
	return f
}

// processTitle is what people call the process that they started; without a title, its id. title is that of the process
// with a Call: a delegate knows only its own.
func processTitle(processID, title string) string {
	root := blobs.RootProcessID(processID)
	if spelling.ProcessIDWithoutParts(processID) != root {
		return root
	}
	return cmp.Or(clip(title, maxCellChars), root)
}

// processTitleNow reads what people call a process; empty: it is unknown.
func (v *visit) processTitleNow(processID string) string {
	return v.Client.Process(processID).Presenter(v.Context()).ProcessTitle
}

// processNameText tells processes of one title apart by their ids.
func processNameText(processID, title string) string {
	root, title := blobs.RootProcessID(processID), processTitle(processID, title)
	if title == root {
		return root
	}
	return title + " (" + root + ")"
}

// loadCatalogues are the wordings of the languages.
var loadCatalogues = sync.OnceValues(func() (map[shown.Language]*wording.Catalogue, error) {
	all := map[shown.Language]*wording.Catalogue{}
	for _, language := range shown.Languages {
		words, err := wording.CatalogueFor(language)
		if err != nil {
			return nil, err
		}
		all[language] = words
	}
	return all, nil
})

// loadTemplates are the templates by their names, for each language.
var loadTemplates = sync.OnceValues(func() (map[shown.Language]map[string]*template.Template, error) {
	all := map[shown.Language]map[string]*template.Template{}
	words, err := loadCatalogues()
	for language, words := range words {
		if all[language], err = parsePages(language, words); err != nil {
			return nil, err
		}
	}
	return all, err
})

func parsePages(language shown.Language, catalogue *wording.Catalogue) (map[string]*template.Template, error) {
	templates := map[string]*template.Template{}
	base := template.New("").Funcs(templateFuncs).Funcs(languageFuncs(language, catalogue))
	for _, folder := range []string{"templates/parts", "templates"} {
		names, _ := fs.Glob(embeddedFiles, folder+"/*.html")
		for _, name := range names {
			source, err := embeddedFiles.ReadFile(name)
			page := base
			if err == nil && folder == "templates" {
				page, err = base.Clone()
				templates[strings.TrimSuffix(path.Base(name), ".html")] = page
			}
			if err == nil {
				_, err = page.Parse(wording.TranslateTemplate(string(source), catalogue.TranslateSentence))
			}
			if err != nil {
				return nil, fmt.Errorf("desk: the page %s in %s: %w", name, language, err)
			}
		}
	}
	return templates, nil
}

// render writes a page, or an error message if the page cannot be made. It always returns nil.
func (v *visit) render(status int, name string, data any) error {
	var b bytes.Buffer
	all, err := loadTemplates()
	if err == nil {
		err = all[client.LanguageOf(v.Context())][name].ExecuteTemplate(&b, "frame", data)
	}
	if err != nil {
		v.Log.Error("a page cannot be made", "page", name, "error", err)
		http.Error(v.w, "The page cannot be made.", http.StatusInternalServerError)
		return nil
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	if v.Method != http.MethodHead {
		_, _ = v.w.Write(b.Bytes())
	}
	return nil
}

// show shows a page.
func (v *visit) show(name string, data any) error {
	return v.render(http.StatusOK, name, data)
}

// redirect leads to another page.
func (v *visit) redirect(target string) error {
	http.Redirect(v.w, v.Request, target, http.StatusSeeOther)
	return nil
}

// formValue returns the entry in a field, without the spaces around it.
func (v *visit) formValue(field string) string { return strings.TrimSpace(v.PostForm.Get(field)) }

// callerActor returns the caller, with the reason in the form.
func (v *visit) callerActor() client.Actor {
	return client.Actor{Name: v.user.Name, Reason: v.formValue("reason")}
}

// notFound makes an error whose text the page shows unchanged.
func notFound(format string, args ...any) error {
	return access.NewRefusal(http.StatusNotFound, api.CodeNotFound, format, args...)
}

// pagination is the visible part of a long list: the items First to Last, of Total.
type pagination struct {
	First, Last, Total int
	PrevHref, NextHref string
}

// paginate picks a part by its number, from 1; pageHref gives the addresses of others.
func paginate(total, pageSize, page int, pageHref func(page int) string) (p pagination) {
	page = min(max(page, 1), max((total+pageSize-1)/pageSize, 1))
	p = pagination{First: (page-1)*pageSize + 1, Last: min(page*pageSize, total), Total: total}
	if page > 1 {
		p.PrevHref = pageHref(page - 1)
	}
	if p.Last < total {
		p.NextHref = pageHref(page + 1)
	}
	return p
}

// assetsPath is the folder of the files that pages load. Its name changes with their content, so that browsers cache
// it.
var assetsPath = sync.OnceValue(func() string {
	sum := sha256.New()
	_ = fs.WalkDir(embeddedFiles, "assets", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			data, _ := embeddedFiles.ReadFile(name)
			_, _ = fmt.Fprintf(sum, "%s %d\n%s", name, len(data), data)
		}
		return err
	})
	return "/desk/assets/" + hex.EncodeToString(sum.Sum(nil))[:16]
})

var mediaTypeByExtension = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml"}

// serveAsset serves the files that pages load, to anybody.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	data, err := embeddedFiles.ReadFile("assets/" + path.Base(r.PathValue("name")))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mediaTypeByExtension[path.Ext(r.PathValue("name"))])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data)
}

var templateFuncs = template.FuncMap{
	"iso":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clip": clip, "pretty": form.PrettyJSON, "visible": visibleText,
	"contains": strings.Contains, "lower": strings.ToLower, "long": clipParagraph, "processHref": processHref,
	"callHref": callHref, "callHrefFrom": callHrefFrom, "planHref": planHref, "inWords": resultText,
	"whatBecame": pastOutcomeText, "hasFailed": hasFailed,
	"isHeldUp": isHeldUp, "isRemark": approval.IsRemark, "started": blobs.RootProcessID,
	"short": clipName, "beyond": func(n, maxCount int) int { return max(0, n-maxCount) },
	"periods": func() []string { return filterPeriods }, "processTitle": processTitle,
	"processName": processNameText, "titleOfPath": shown.ProcessTitleOf,
	"dict": func(pairs ...any) map[string]any {
		m := map[string]any{}
		for n := 0; n+1 < len(pairs); n += 2 {
			m[pairs[n].(string)] = pairs[n+1]
		}
		return m
	},
}

// timestampFormatter returns a function that formats moments in a language.
func timestampFormatter(l shown.Language) func(time.Time) string {
	layout := readable.TimestampLayout
	if all, err := loadCatalogues(); err == nil {
		layout = all[l].Translate(layout)
	}
	return func(t time.Time) string { return t.Local().Format(layout) }
}

// momentText returns a moment to the minute.
func momentText(t time.Time, l shown.Language) string {
	minute := t.Local().Truncate(time.Minute).Format(time.RFC3339)
	return shown.Format{Display: shown.DateTime}.Text(minute, l)
}

// languageFuncs returns the template functions that depend on the language.
func languageFuncs(language shown.Language, catalogue *wording.Catalogue) template.FuncMap {
	countText := func(n int, one, others string) string {
		if n == 1 {
			return catalogue.TranslateAs("count", "1 "+one)
		}
		return catalogue.TranslateAs("count", withThousandsCommas(n)+" "+others)
	}
	return template.FuncMap{
		"factOf":  func(v any) *fact { return factOf(v, language) },
		"factsOf": func(v any) []fact { return factsOf(v, language) },
		"language": func() shown.Language {
			return language
		}, "say": catalogue.Translate, "sayAs": catalogue.TranslateAs, "many": countText,
		"plural": func(n int, noun string) string { return countText(n, noun, noun+"s") },
		"heading": func(name, full string) string {
			if name != full { // a parameter's title, which is data
				return name
			}
			return catalogue.TranslateAs("column", name)
		},
		"ago": func(now, t time.Time) string { return catalogue.TranslateAs("time", agoText(now, t)) },
		"in":  func(now, t time.Time) string { return catalogue.TranslateAs("time", untilText(now, t)) },
		"due": func(now time.Time, deadline *time.Time) string {
			return catalogue.TranslateAs("time", dueText(now, deadline))
		},
		"took": func(seconds float64) string {
			return catalogue.TranslateAs("time", readable.ElapsedText(time.Duration(seconds*float64(time.Second))))
		},
		"stamp":     timestampFormatter(language),
		"zone":      func() string { zone, _ := time.Now().Zone(); return zone },
		"thousands": func(n int) string { return catalogue.FormatNumber(withThousandsCommas(n)) },
		"past":      func(kind string) string { return catalogue.Translate(pastTenseByDecisionKind[kind]) },
		"decidedAs": func(kind string) string {
			return catalogue.Translate(cmp.Or(textByDecisionKind[kind], pastTenseByDecisionKind[kind]))
		},
		"moment":   func(t time.Time) string { return momentText(t, language) },
		"byItself": func(a client.Approval) string { return catalogue.Translate(onTimeoutText(a)) },
		"atDeadline": func(a client.Approval) string {
			return catalogue.TranslateAs("deadline", strings.TrimPrefix(onTimeoutText(a), "it is "))
		},
		"planName": func(request *int) string {
			return catalogue.Translate(approval.PlanAwaitingDecision{RequestNumber: *request}.Name())
		},
		"whoDecided": func(one approval.Decision) string { return catalogue.TranslateAs("who", deciderText(one)) },
	}
}
