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
	"processidea/store/blobs"
)

//go:embed templates assets
var files embed.FS

// frame is the data around every page.
type frame struct {
	Title           string
	Who             string // empty: nobody is logged in
	May             map[string]bool
	Assets          string // the folder of what pages load
	Now             time.Time
	Live            bool // the page reloads itself, if scripts run
	PasskeysEnabled bool // people sign with passkeys here
	// Process is the id of the process in the address, and Href its page.
	Process, Href string
}

// Sees reports whether the pages of waiting and running work are offered. People who are not logged in are asked to log
// in there.
func (f frame) Sees() bool { return f.Who == "" || f.May[string(access.Look)] }

func (v *visit) frame(title string) frame {
	f := frame{Title: cmp.Or(title, "It did not work"), Who: v.who.Name, Assets: assetsPath(), Now: time.Now(),
		May: map[string]bool{}, PasskeysEnabled: v.Deciders != nil, Process: v.process, Href: processHref(v.process)}
	for _, right := range v.who.Rights {
		f.May[string(right)] = true
	}
	return f
}

// catalogues are the wordings of the languages.
var catalogues = sync.OnceValues(func() (map[shown.Language]*wording.Catalogue, error) {
	all := map[shown.Language]*wording.Catalogue{}
	for _, language := range shown.Languages {
		words, err := wording.For(language)
		if err != nil {
			return nil, err
		}
		all[language] = words
	}
	return all, nil
})

// pages are the templates by their names, for each language.
var pages = sync.OnceValues(func() (map[shown.Language]map[string]*template.Template, error) {
	all := map[shown.Language]map[string]*template.Template{}
	words, err := catalogues()
	for language, words := range words {
		if all[language], err = pagesIn(language, words); err != nil {
			return nil, err
		}
	}
	return all, err
})

func pagesIn(language shown.Language, words *wording.Catalogue) (map[string]*template.Template, error) {
	all := map[string]*template.Template{}
	base := template.New("").Funcs(functions).Funcs(functionsIn(language, words))
	for _, folder := range []string{"templates/parts", "templates"} {
		names, _ := fs.Glob(files, folder+"/*.html")
		for _, name := range names {
			source, err := files.ReadFile(name)
			page := base
			if err == nil && folder == "templates" {
				page, err = base.Clone()
				all[strings.TrimSuffix(path.Base(name), ".html")] = page
			}
			if err == nil {
				_, err = page.Parse(wording.Template(string(source), words.Sentence))
			}
			if err != nil {
				return nil, fmt.Errorf("desk: the page %s in %s: %w", name, language, err)
			}
		}
	}
	return all, nil
}

// render writes a page, or an error message if the page cannot be made. It always returns nil.
func (v *visit) render(status int, name string, data any) error {
	var b bytes.Buffer
	all, err := pages()
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
func (v *visit) redirect(to string) error {
	http.Redirect(v.w, v.Request, to, http.StatusSeeOther)
	return nil
}

// formValue returns the entry in a field, without the spaces around it.
func (v *visit) formValue(field string) string { return strings.TrimSpace(v.PostForm.Get(field)) }

// by returns the caller, with the reason in the form.
func (v *visit) by() client.By { return client.By{Name: v.who.Name, Reason: v.formValue("reason")} }

// notFound makes an error whose text the page shows unchanged.
func notFound(format string, args ...any) error {
	return access.Refuse(http.StatusNotFound, api.CodeNotFound, format, args...)
}

// part is the visible part of a long list: the items First to Last, of Total.
type part struct {
	First, Last, Total int
	Prev, Next         string
}

// partOf picks a part by its number, from 1; at gives the addresses of others.
func partOf(total, size, page int, at func(page int) string) (p part) {
	page = min(max(page, 1), max((total+size-1)/size, 1))
	p = part{First: (page-1)*size + 1, Last: min(page*size, total), Total: total}
	if page > 1 {
		p.Prev = at(page - 1)
	}
	if p.Last < total {
		p.Next = at(page + 1)
	}
	return p
}

// assetsPath is the folder of the files that pages load. Its name changes with their content, so that browsers cache
// it.
var assetsPath = sync.OnceValue(func() string {
	sum := sha256.New()
	_ = fs.WalkDir(files, "assets", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			data, _ := files.ReadFile(name)
			_, _ = fmt.Fprintf(sum, "%s %d\n%s", name, len(data), data)
		}
		return err
	})
	return "/desk/assets/" + hex.EncodeToString(sum.Sum(nil))[:16]
})

var mediaTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml"}

// serveAsset serves the files that pages load, to anybody.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	data, err := files.ReadFile("assets/" + path.Base(r.PathValue("name")))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mediaTypes[path.Ext(r.PathValue("name"))])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data)
}

var functions = template.FuncMap{
	"iso":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clip": clip, "pretty": form.Pretty, "visible": visible,
	"lower": strings.ToLower, "long": clipParagraph, "processHref": processHref,
	"callHref": callHref, "planHref": planHref, "inWords": inWords, "whatBecame": outcomeText,
	"isHeldUp": isHeldUp, "isRemark": approval.IsRemark, "started": blobs.RootOf,
	"short": clipName, "beyond": func(n, maxCount int) int { return max(0, n-maxCount) },
	"dict": func(pairs ...any) map[string]any {
		m := map[string]any{}
		for n := 0; n+1 < len(pairs); n += 2 {
			m[pairs[n].(string)] = pairs[n+1]
		}
		return m
	},
}

// stampIn returns a function that formats moments in a language.
func stampIn(l shown.Language) func(time.Time) string {
	layout := readable.StampLayout
	if all, err := catalogues(); err == nil {
		layout = all[l].Say(layout)
	}
	return func(t time.Time) string { return t.Local().Format(layout) }
}

// functionsIn returns the template functions that depend on the language.
func functionsIn(language shown.Language, words *wording.Catalogue) template.FuncMap {
	many := func(n int, one, others string) string {
		if n == 1 {
			return words.InContext("count", "1 "+one)
		}
		return words.InContext("count", thousands(n)+" "+others)
	}
	return template.FuncMap{
		"factOf":   func(v any) *fact { return factOf(v, language) },
		"factsOf":  func(v any) []fact { return factsOf(v, language) },
		"language": func() shown.Language { return language }, "say": words.Say, "sayAs": words.InContext, "many": many,
		"plural": func(n int, what string) string { return many(n, what, what+"s") },
		"heading": func(name, full string) string {
			if name != full { // a parameter's title, which is data
				return name
			}
			return words.InContext("column", name)
		},
		"ago": func(now, t time.Time) string { return words.InContext("time", ago(now, t)) },
		"in":  func(now, t time.Time) string { return words.InContext("time", until(now, t)) },
		"took": func(seconds float64) string {
			return words.InContext("time", readable.Took(time.Duration(seconds*float64(time.Second))))
		},
		"stamp":      stampIn(language),
		"thousands":  func(n int) string { return words.Number(thousands(n)) },
		"past":       func(kind string) string { return words.Say(pastTense[kind]) },
		"byItself":   func(a client.Approval) string { return words.Say(onTimeoutText(a)) },
		"planName":   func(request *int) string { return words.Say(approval.Plan{Request: *request}.Name()) },
		"whoDecided": func(one approval.Decision) string { return words.InContext("who", whoDecided(one)) },
	}
}
