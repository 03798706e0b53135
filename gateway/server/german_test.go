package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// inGerman has a browser of somebody who reads German, who is logged in.
func (h *house) inGerman() *browser {
	h.Helper()
	b := h.browse()
	b.client.Transport = german{}
	return b
}

type german struct{}

func (german) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Accept-Language", "de-CH, en;q=0.5")
	return http.DefaultTransport.RoundTrip(r)
}

// isGerman checks that a page says nothing in English that the catalogue has in German.
func (p *page) isGerman() *page {
	p.Helper()
	var words struct{ Pages, Texts map[string]string }
	if err := json.Unmarshal(must(os.ReadFile("../desk/wording/de.json")), &words); err != nil {
		p.Fatal(err)
	}
	check := func(text string) {
		text = strings.Join(strings.Fields(text), " ")
		for _, all := range []map[string]string{words.Pages, words.Texts} {
			if said, known := all[text]; known && said != text {
				p.Errorf("%s says %q, and not %q", p.address, text, said)
			}
		}
	}
	for n := range p.root.Descendants() {
		if n.Type == html.TextNode && !slices.Contains([]string{"bdi", "code", "pre"}, n.Parent.Data) {
			check(n.Data)
		}
		for _, a := range n.Attr {
			if slices.Contains([]string{"alt", "aria-label", "data-label", "title"}, a.Key) {
				check(a.Val)
			}
		}
	}
	if lang := attribute(all(p.root, "html")[0], "lang"); lang != "de" {
		p.Errorf("%s is of the language %q", p.address, lang)
	}
	return p
}

func TestTheDeskSpeaksTheLanguageOfItsReader(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "Inbox", "cents": 1}}`, `{"values": {"order": "D-2", "cents": 2}}`)
	b := h.inGerman()
	b.open("/?process="+id).is(200).isGerman().says("Eingang", "2 Fälle warten auf Sie.", "Auswahl genehmigen",
		"Inbox", "Ablehnung in 3 Tagen", "Eingegangen", "gerade eben")
	p := b.open("/?text=D-2&process="+id).link("@").is(200).isGerman().says("Was geschehen würde",
		"Wenn niemand entscheidet: Ablehnung in 3 Tagen", "übernommen aus: womit er begann")
	p.form("Anmerken").press("Übergeben").is(409).isGerman()
	p.form("Ablehnen").press("Ablehnen").is(422).isGerman().says("Eine Ablehnung braucht einen Grund")
	p.form("Genehmigen").press("Genehmigen").is(200).isGerman().says("1 Fall ist genehmigt.")
	b.open(p.address).is(200).isGerman().says("genehmigt von ann")
	b.open("/desk/calls/"+id+"/none").is(404).isGerman().says("Hier ist nichts", "Der Schritt none von "+id)
	of := "/desk/processes/" + id
	b.open(of).is(200).isGerman().says("Payment "+id+" läuft", "1 Fall wartet auf eine Entscheidung", "Anhalten")
	b.open(of+"/idea").is(200).isGerman().says("Was sich geändert hat", "Eintrag 3 der Aufzeichnung von Payment "+id)
	b.open(of + "/add").is(200).isGerman().says("Fälle zu Payment hinzufügen " + id)
	b.open(of + "/undo").is(200).isGerman()
	b.open("/desk/start").is(200).isGerman().says("Einen Prozess starten", "Erst simulieren")
	b.open("/desk/insights").is(200).isGerman().says("Wie entschieden wird", "genehmigt")
	b.open("/desk/processes").is(200).isGerman().says("läuft")
	b.open("/desk/key").is(200).isGerman().says("Ihre Passkeys")
	b.open("/desk/nothing").is(404).isGerman().says("Diese Seite gibt es nicht.")
	end := b.open(of).form("Den Prozess beenden")
	end.values.Set("sure", "yes")
	end.press("Den Prozess beenden").is(200)
	h.get("/api/processes/" + id + "/result?wait=30").is(200)
	b.open(of).is(200).isGerman().says("Payment " + id + " abgebrochen")
	b.open(of+"/verify").is(200).isGerman().says("Die Aufzeichnung von Payment "+id, "ann", "genehmigt")
	stranger := h.stranger()
	stranger.client.Transport = german{}
	stranger.open("/").is(401).isGerman().says("Anmelden")
	h.browse().open("/").is(200).says("Inbox").lacks("Eingang")
}

func TestAPlanIsReadInGerman(t *testing.T) {
	h := open(t)
	id, _ := h.planned("", `{"name": "Ann"}`, `{"name": "Bob"}`)
	b := h.inGerman()
	p := b.open("/?process=" + id).is(200).isGerman().says("1 Plan wartet auf Sie").link("Plan 1")
	p.isGerman().says("Plan 1 von "+id, "2 × Book; 2 × Tell Er kam",
		"Er führt das Programm formatText aus.",
		"Seat von Schritt 1.1 Book")
	p.form("Den Plan ablehnen").press("Den Plan ablehnen").is(422).isGerman().says("Eine Ablehnung braucht einen Grund")
	p.form("Den Plan genehmigen").press("Den Plan genehmigen").is(200).isGerman().says("Der Plan ist genehmigt.")
}
