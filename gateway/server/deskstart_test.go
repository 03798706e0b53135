package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/simulation"
	"processidea/gateway/access"
	"processidea/gateway/desk"
	"processidea/gateway/server"
	"processidea/model/loop"
)

// upload sends a form as browsers send one with files: pairs of a field and name=text.
func (s *sheet) upload(button string, files ...string) *page {
	s.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for k, list := range s.values {
		for _, v := range list {
			if k != "idea" && k != "rows" && k != "files" && k != "replies" { // those are files
				_ = w.WriteField(k, v)
			}
		}
	}
	for n := 0; n < len(files); n += 2 {
		name, text, _ := strings.Cut(files[n+1], "=")
		_, _ = must(w.CreateFormFile(files[n], name)).Write([]byte(text))
	}
	for _, f := range all(s.form, "button") {
		if strings.Contains(textOf(f), button) {
			_ = w.WriteField(attribute(f, "name"), attribute(f, "value"))
		}
	}
	_ = w.Close()
	r := must(http.NewRequestWithContext(s.Context(), http.MethodPost, s.url+attribute(s.form, "action"), &b))
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Header.Set("Origin", s.url)
	return s.send(r)
}

const parcels = `meta: {path: parcels, template: true}
schema:
  tools:
    label:
      type: object
      properties: {template: {type: string}, values: {type: object}}
      required: [template, values]
      _activity: formatText
      _outputPath: †state.label
context:
  - {type: input, schema: {type: object, properties: {weight: {type: number}}}, input: {letter: "To {to}"}}
  - {type: plan, stage: optimal, plan: [{_tool: label, _instance: "*", template: "A parcel", values: {}}]}
`

const noMore = `{"solution": {"calls": [], "output": null}}` + "\n" + `{"solution": {"calls": [], "output": null}}`

func TestWhatIsWrongWithUploadedFilesIsToldInPlaceAndNothingIsLost(t *testing.T) {
	h := open(t)
	b := h.browse()
	p := b.open("/").link("Start").is(200).says("Simulations are not available here")
	p.form("Check").upload("Check").is(422).says("Choose the file of the process first")
	p = p.form("Check").upload("Check", "idea", "parcels.yaml="+parcels, "rows",
		"rows.csv=to,weight\nann,1\nbob,heavy\n").is(422)
	p.says("rows.csv, line 3", "weight", "Kept: parcels.yaml", "Kept: rows.csv", "bob,heavy").lacks("/tmp",
		"processidea-start")
	p = p.form("Check").set("rows-text", "to,weight\r\nann,1\r\nbob,2\r\n", "id",
		"parcels-of-today").upload("Check").is(200)
	p.says("No mistakes: 2 cases", "Kept: parcels.yaml")
	p.form("Simulate first").upload("Simulate first").is(422).says("not available here", "bob,2")
	p = p.form("Start").upload("Start", "replies", "replies.jsonl="+noMore).is(200)
	if p.address != "/desk/processes/parcels-of-today" {
		t.Fatalf("it leads to %s: %s", p.address, p.text())
	}
	if got := h.get("/api/processes/parcels-of-today/result?wait=60").is(200); strings.Count(string(got.body),
		"A parcel") != 2 {
		t.Errorf("%s", got.body)
	}
	// The id belongs to that process, which was started from something else.
	again := b.open("/desk/start").form("Start").set("id", "parcels-of-today")
	again.upload("Start", "idea", "parcels.yaml="+parcels, "rows",
		"rows.csv=to,weight\nzoe,9\n").is(409).says("another name", "zoe,9")
}

func TestTheIdeaOfAFolderAndDelegatesOfAnUploadAreTaken(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "Parcels.yaml"), []byte(parcels), 0o600); err != nil {
		t.Fatal(err)
	}
	var tried []ideafiles.Source
	h := open(t, func(o *server.Options) {
		o.Agents = server.AgentOptions{IdeaFolder: folder, Tools: ideafiles.WorkerTools{HasOtherWorkers: true}}
		o.Simulate = func(_ context.Context, s ideafiles.Source) (*simulation.Report, error) {
			tried = append(tried, s)
			return &simulation.Report{ProcessResult: loop.ProcessResult{Status: "completed"}, ApprovalCount: 7,
				UnfinishedLines: []string{"<i>open</i>"}}, nil
		}
	})
	b := h.browse()
	p := b.open("/desk/start").is(200).says("Parcels").lacks("not available here")
	p = p.form("Simulate first").set("offer", "Parcels").upload("Simulate first", "rows",
		`rows.jsonl={"to": "ann"}`).is(200)
	p.says("The simulation completed", "would have been asked about 7 steps", "<i>open</i>", `{"to": "ann"}`)
	if len(tried) != 1 || tried[0].IdeaPath != filepath.Join(folder, "Parcels.yaml") || tried[0].InstancesPath == "" {
		t.Errorf("it tried %+v", tried)
	}
	with := `{"schema": {"tools": {"part": {"type": "object", "_delegate": "parts/part.json", "_outputPath": "†state.x"}}}, "context": []}`
	p = b.open("/desk/start").form("Check").upload("Check", "idea", "whole.json="+with).is(422).says("parts/part.json")
	p = p.form("Check").upload("Check", "files", `part.json={"schema": {"tools": {}}, "context": []}`).is(422)
	p.form("Check").set("file-name", "../part.json").upload("Check").is(422).says("cannot be the name of a file")
	p.form("Check").set("file-name", "parts/part.json").upload("Check").is(200).says("No mistakes: 1 case")
	p.form("Check").set("file-name", "parts/part.json").upload("Check", "files",
		"picture.json=\x89PNG").is(422).says("this text is not UTF-8")
	const idea = `{"schema": {"tools": {}}, "context": []}`
	p = b.open("/desk/start").form("Check").upload("Check", "idea", "whole.json="+idea).is(200)
	p.form("Check").upload("Check", "rows", "rows.csv=name\nM\xfcller\n").is(422).says("rows.csv", "line 2",
		"this text is not UTF-8", "CSV UTF-8")
	p.form("Check").upload("Check", "rows", "rows.csv=\xff\xfen\x00\n\x00a\x00\n\x00").is(200).says("1 case")
}

// onlookers may look, and nothing else.
type onlookers struct{ desk.LoginGuard }

func (o onlookers) LoggedInPerson(name string, groups []string, _ client.Account) (*access.Person, error) {
	return &access.Person{Name: name, Groups: groups, Rights: []access.Right{access.Look}}, nil
}

func TestWhoMayLookAloneDoesNotStart(t *testing.T) {
	h := open(t, func(o *server.Options) { o.Guard = onlookers{o.Guard.(desk.LoginGuard)} })
	b := h.browse()
	b.open("/").is(200).lacks("Start")
	b.open("/desk/start").is(403)
	b.post("/desk/start", map[string][]string{"do": {"start"}}).is(403)
}

func TestWhoMayStartAloneIsOfferedThatAndToldWhatStarted(t *testing.T) {
	guard := withRights{must(access.NewTokenGuard(token, access.Person{Name: "ann"})), []access.Right{access.Start}}
	h := open(t, func(o *server.Options) { o.Guard = guard })
	b := h.stranger()
	p := b.open("/?token=" + token).is(403)
	p.lacks("Inbox", "inbox", "Insights")
	p = p.link("Start a process").is(200).form("Start").set("id", "unseen-parcels").upload("Start", "idea",
		"parcels.yaml="+parcels, "rows", "rows.csv=to\nann\n", "replies", "replies.jsonl="+noMore).is(200)
	p.says("unseen-parcels has started. You may not look at it.").lacks("Kept", "You may not do that")
}

func TestInstancesAreAddedAtTheDesk(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A1", "cents": 1}}`)
	b := h.browse()
	p := b.open("/desk/processes/" + id).is(200).link("Add cases").is(200)
	p.form("Add them").upload("Add them").is(422).says("Nothing was added")
	p = p.form("Add them").set("reason", "late").upload("Add them", "rows",
		`more.jsonl={"values": {"order": "A2"`).is(422).says("more.jsonl, line 1", "A2")
	p.form("Add them").set("rows-text", `{"values": {"order": "A2", "cents": 2}}`).upload("Add them").is(200)
	h.waiting(id, 2)
	b.open("/desk/processes/" + id).is(200).says("Cases 2")
	h.post("/api/processes/"+id+"/cancel", map[string]any{}).is(204)
}

func TestTheExportIsOneFileInWhichHostileDataIsText(t *testing.T) {
	h := open(t)
	evil := `<script>alert(1)</script>` + "\u202e" + `<img src=x onerror=alert(1)>`
	id := h.pays(`{"values": {"order": "` + evil + `", "cents": 1}}`)
	b := h.browse()
	b.open("/?process="+id).form("Approve").tick("").set("reason", evil).press("Approve selected").is(200)
	h.receipts(id)
	got := h.get("/api/processes/" + id + "/export.html").is(200)
	if d := got.header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment") {
		t.Errorf("it is shown: %q", d)
	}
	page := b.open("/desk/processes/" + id + "/export.html").is(200)
	for name, source := range map[string]string{"the API's": string(got.body), "the desk's": page.source} {
		root := must(html.Parse(strings.NewReader(source)))
		if n := all(root, "script", "img", "link", "iframe", "form", "object"); len(n) > 0 {
			t.Errorf("%s has a %s", name, n[0].Data)
		}
		for n := range root.Descendants() {
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" || a.Key == "style" {
					t.Errorf("%s has %s=%q", name, a.Key, a.Val)
				}
			}
		}
		if len(all(root, "svg")) != 1 || strings.Contains(source, "\u202e") {
			t.Errorf("%s has no picture, or what turns texts round", name)
		}
		text := strings.Join(strings.Fields(textOf(root)), " ")
		for _, want := range []string{"was whole", "approved: Pay: ", "The Call 0.1@① pay",
			"declared: the name was only stated, not proved", "ann", "<script>alert(1)</script>⟨U+202E⟩",
			"by Call 0.1@① pay", "Idea", "starter verify " + id, "done"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q: %s", name, want, text)
			}
		}
	}
	h.get("/api/processes/nobody/export.html").problem(404, "not-found")
}

func TestALargeStateStaysAPageAndIsFolded(t *testing.T) {
	h := open(t)
	var keys []string
	for n := range 3000 {
		keys = append(keys, `"k`+strings.Repeat("x", n%7)+string(rune('a'+n%26))+strings.Repeat("y", n/26%40)+`": "`+
			strings.Repeat("v", 300)+`"`)
	}
	id := strings.ToLower(h.Name())
	start := payment(id, `{"values": {"order": "A1", "cents": 1}}`)
	delete(start, "instances")
	start["idea"] = map[string]any{"schema": map[string]any{"tools": map[string]any{}},
		"context": []any{map[string]any{"type": "state",
			"state": json.RawMessage(`{"big": {` + strings.Join(keys, ",") + `}}`)}}}
	h.post("/api/processes", start).is(201)
	h.get("/api/processes/" + id + "/result?wait=60").is(200)
	p := h.browse().open("/desk/processes/"+id+"/idea").is(200).says("from the beginning", "more value")
	if len(p.source) > 1<<20 {
		t.Errorf("the page has %d bytes", len(p.source))
	}
	folded := false
	for _, d := range all(p.root, "details") {
		folded = folded || attribute(d, "class") == "folded" && !has(d, "open")
	}
	if !folded {
		t.Error("nothing is folded")
	}
}
