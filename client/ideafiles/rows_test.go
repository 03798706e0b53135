package ideafiles

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

const noContext = `{"context":[]}`

// rowsOf reads an instances file and gives its messages as canonical JSON, one a line.
func rowsOf(t *testing.T, file, text, idea string) (string, diag.Problems) {
	t.Helper()
	messages, problems := ReadRowsAsMessages(file, []byte(text), ideaOf(t, idea), jsonval.UntrustedNodeLimit)
	var lines []string
	for _, m := range messages {
		lines = append(lines, string(jsonval.Encode(m)))
	}
	return strings.Join(lines, "\n"), problems
}

func wantRows(t *testing.T, file, text, idea, want string) {
	t.Helper()
	got, problems := rowsOf(t, file, text, idea)
	if errs := problems.Errors(); len(errs) > 0 {
		t.Errorf("%q is refused: %v", text, errs)
	}
	if got != want {
		t.Errorf("%q\ngives %s\nwant  %s", text, got, want)
	}
}

func wantProblem(t *testing.T, problems diag.Problems, path, message string) {
	t.Helper()
	for _, p := range problems {
		if p.JSONPath == path && strings.Contains(p.Message, message) {
			return
		}
	}
	t.Errorf("no problem at %s that says %q, but %v", path, message, problems)
}

func TestAPlainRowIsTheInputOfAnInstanceNamedInOrder(t *testing.T) {
	t.Parallel()
	wantRows(t, "rows.jsonl", "{\"a\":1}\n\n  {\"a\":2}\r\n", noContext,
		`{"_instance":"①","input":{"a":1},"type":"input"}`+"\n"+`{"_instance":"②","input":{"a":2},"type":"input"}`)
}

func TestARowMayNameItsInstanceAndTheOthersLeaveThatNameOut(t *testing.T) {
	t.Parallel()
	wantRows(t, "rows.jsonl", `{"a":1}`+"\n"+`{"_instance":"①","a":2}`+"\n"+`{"_instance":null,"a":3}`, noContext,
		`{"_instance":"②","input":{"a":1},"type":"input"}`+"\n"+
			`{"_instance":"①","input":{"a":2},"type":"input"}`+"\n"+
			`{"_instance":"③","input":{"a":3},"type":"input"}`)
}

func TestARowWithATypeIsThatMessage(t *testing.T) {
	t.Parallel()
	wantRows(t, "rows.jsonl", `{"type":"state","a":1}`+"\n"+`{"type":"state","_instance":"x","state":{"a":1}}`,
		noContext,
		`{"_instance":"①","a":1,"type":"state"}`+"\n"+`{"_instance":"x","state":{"a":1},"type":"state"}`)
}

func TestAPlainRowsKeysAreNeverTakenForTheMessages(t *testing.T) {
	t.Parallel()
	wantRows(t, "rows.jsonl", `{"kind":"x","schema":"y","input":1,"title":"z","type":null}`, noContext,
		`{"_instance":"①","input":{"input":1,"kind":"x","schema":"y","title":"z","type":null},"type":"input"}`)
}

func TestARowOfDataThatHasATypeIsRefusedWithTheWayOut(t *testing.T) {
	t.Parallel()
	_, problems := rowsOf(t, "rows.jsonl", `{"type":"shoe","size":44}`, noContext)
	wantProblem(t, problems, "rows.jsonl:1 $.type", `{"type":"input","input":{…}}`)
	wantRows(t, "rows.jsonl", `{"type":"input","input":{"type":"shoe"}}`, noContext,
		`{"_instance":"①","input":{"type":"shoe"},"type":"input"}`)
}

func TestEveryBadRowIsReportedWithItsLine(t *testing.T) {
	t.Parallel()
	_, problems := rowsOf(t, "rows.jsonl",
		"{\"a\":1,\"a\":2}\n[1]\n{\"b\":1}\n{\"_instance\":\"*\"}\n{\"n\":1e999999}\n{\"_instance\":7}", noContext)
	wantProblem(t, problems, "rows.jsonl:1", "the key stands twice")
	wantProblem(t, problems, "rows.jsonl:2", "a row is an object, not array")
	wantProblem(t, problems, "rows.jsonl:4 $._instance", "every instance")
	wantProblem(t, problems, "rows.jsonl:5", "out of range")
	wantProblem(t, problems, "rows.jsonl:6 $._instance", "want a string")
	if len(problems) != 5 {
		t.Errorf("%d problems: %v", len(problems), problems)
	}
}

func TestAMisspelledInstanceIsNoData(t *testing.T) {
	t.Parallel()
	_, problems := rowsOf(t, "rows.jsonl", `{"_instence":"①","a":1}`+"\n"+`{"_id":"x","a":1}`, noContext)
	wantProblem(t, problems, "rows.jsonl:1 $._instence", "did you mean _instance?")
	if len(problems) != 1 {
		t.Error(problems)
	}
}

func TestAFileWithoutARowIsRefused(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{"rows.jsonl": "\n \n", "rows.csv": "a,b\n", "empty.csv": "",
		"blank.csv": "a,b\n,\n , \n"} {
		_, problems := rowsOf(t, file, text, noContext)
		wantProblem(t, problems, file, "it has no rows")
	}
}

func TestColumnsAreTextsUnlessTheInputsSchemaSaysOtherwise(t *testing.T) {
	t.Parallel()
	typed := `{"context":[{"type":"input","schema":{"type":"object","properties":{
		"n":{"type":"integer"},"x":{"type":"number"},"ok":{"type":"boolean"},"o":{"type":"object"},"l":{"type":"array"},
		"s":{"type":"string"},"maybe":{"type":["integer","null"]},"either":{"type":["number","string"]},"z":{"type":"null"}}}}]}`
	const header = "n,x,ok,o,l,s,maybe,either,z,other\n"
	for row, want := range map[string]string{
		`7,1.50,TRUE,"{""a"":1}","[1,2]",7,,x,,7`:     `{"either":"x","l":[1,2],"maybe":null,"n":7,"o":{"a":1},"ok":true,"other":"7","s":"7","x":1.50,"z":null}`,
		`12345678901234567890,1e3,false,{},[],,8,9,,`: `{"either":9,"l":[],"maybe":8,"n":12345678901234567890,"o":{},"ok":false,"other":"","s":"","x":1e3,"z":null}`,
		`,,,,,,,,,1`: `{"either":"","maybe":null,"other":"1","s":"","z":null}`,
	} {
		wantRows(t, "rows.csv", header+row+"\n", typed, `{"_instance":"①","input":`+want+`,"type":"input"}`)
	}
	wantRows(t, "rows.csv", "n,x,ok\n 7 ,\u00a01.50 , True\n", typed,
		`{"_instance":"①","input":{"n":7,"ok":true,"x":1.50},"type":"input"}`)
	_, problems := rowsOf(t, "rows.csv", header+`7.5,x,yes,[],{},s,s,s,s,s`, typed)
	for key, message := range map[string]string{
		"n": `want integer, not "7.5"`, "x": `want number, not "x"`, "ok": `want boolean, not "yes": a boolean is written true or false`,
		"o": `want object, not "[]"`,
		"l": `want array, not "{}"`, "maybe": `want integer or null, not "s"`, "z": `want null, not "s"`,
	} {
		wantProblem(t, problems, "rows.csv:2 $."+key, message)
	}
}

// A schema may say a type in other ways than by the key type, as Pydantic's does.
func TestATypeThatASchemaSaysInAnotherWayIsRead(t *testing.T) {
	t.Parallel()
	const typed = `{"context":[{"type":"input","schema":{"additionalProperties":{"type":"boolean"},"$defs":{
		"Money":{"type":"number"},"Day":{"type":"string","format":"date"}},"properties":{
		"choice":{"anyOf":[{"type":"number"},{"type":"null"}]},"ref":{"$ref":"#/$defs/Money"},"day":{"$ref":"#/$defs/Day"},
		"whole":{"allOf":[{"$ref":"#/$defs/Money"}]},"enum":{"enum":[1,2]},"const":{"const":7},
		"either":{"oneOf":[{"type":"integer"},{"type":"string"}]}}}}]}`
	for text, want := range map[string]string{
		"choice,ref,whole\n12.50,9007199254740993,1\n": `{"choice":12.50,"ref":9007199254740993,"whole":1}`,
		"choice,ref\n,1\n":             `{"choice":null,"ref":1}`,
		"enum,const,more\n2,7,TRUE\n":  `{"const":7,"enum":2,"more":true}`,
		"either,day\n2,\n":             `{"either":2}`,
		"either,day\n007,2025-12-31\n": `{"day":"2025-12-31","either":"007"}`,
	} {
		wantRows(t, "rows.csv", text, typed, `{"_instance":"①","input":`+want+`,"type":"input"}`)
		if _, problems := rowsOf(t, "rows.csv", text, typed); len(problems) > 0 {
			t.Errorf("%q: %v", text, problems)
		}
	}
	_, problems := rowsOf(t, "rows.csv", "ref\n\"12,50\"\n", typed)
	wantProblem(t, problems, "rows.csv:2 $.ref", `want number, not "12,50": a decimal is written with a point`)
}

func TestAColumnWithAlmostTheNameOfAnInputIsToldOf(t *testing.T) {
	t.Parallel()
	const typed = `{"context":[{"type":"input","input":{"note":"x"},"schema":{"required":["name"],
		"properties":{"name":{},"amount":{},"note":{}}}}]}`
	for header, want := range map[string]string{
		"name,Amount": `no "Amount", and no column is named "amount"`, "name,amuont": `no column is named "amount"`,
		"name,total": "", "name,amount,Amount": "", "name,notes": "", "_instance,name": "",
	} {
		_, problems := rowsOf(t, "rows.csv", header+"\na"+strings.Repeat(",b", strings.Count(header, ","))+"\n", typed)
		if len(problems.Errors()) > 0 || (len(problems) > 0) != (want != "") {
			t.Errorf("%s: %v", header, problems)
		}
		if want != "" {
			wantProblem(t, problems, "rows.csv:1", want)
		}
	}
}

func TestAColumnForTheTypeMakesOtherMessages(t *testing.T) {
	t.Parallel()
	wantRows(t, "rows.csv", "_instance,type,text,size\n,,plain,\nx,state,told,\n,state,,7\n",
		`{"context":[{"type":"state","schema":{"properties":{"size":{"type":"integer"}}}}]}`,
		`{"_instance":"①","input":{"size":"","text":"plain"},"type":"input"}`+"\n"+
			`{"_instance":"x","text":"told","type":"state"}`+"\n"+
			`{"_instance":"②","size":7,"type":"state"}`)
}

func TestACSVFileThatIsNoTableIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"a,b\n1\n": {"rows.csv:2", "the row has more or fewer cells than the header"},
		"a\n\"1\n2\"\n\n3" + strings.Repeat(",", 20_000): {"rows.csv:5",
			"the row has more than 16384 cells; a spreadsheet has at most 16384 columns"},
		"a,a\n1,2\n":       {"rows.csv:1", `two columns are named "a"`},
		"a,,b\n1,2,3\n":    {"rows.csv:1", "column 2 has no name"},
		"a\n1\n\"x\ny\n":   {"rows.csv:4", `a cell that begins with a quote has none at its end`},
		"a\n\"x\ny\"\n*,*": {"rows.csv:4", "the row has more or fewer cells than the header"},
	} {
		_, problems := rowsOf(t, "rows.csv", text, noContext)
		wantProblem(t, problems, want[0], want[1])
	}
}

func TestAListOfObjectsIsAnInstancesFileToo(t *testing.T) {
	t.Parallel()
	wantRows(t, "rows.json", " [\n  {\"a\": 1},\n  {\"a\": 2}\n]\n", noContext,
		`{"_instance":"①","input":{"a":1},"type":"input"}`+"\n"+`{"_instance":"②","input":{"a":2},"type":"input"}`)
	for text, want := range map[string][2]string{
		"[\n{\"a\":1},\n7]":        {"rows.jsonl:3", "a row is an object, not number"},
		"[\n{\"a\":1},\n{\"a\":1":  {"rows.jsonl:2", "the list of rows has no end"},
		"[{\"a\":1}]\n[{\"a\":2}]": {"rows.jsonl:2", "text after the list of rows"},
		"[{\"a\":1,\n\n\"b\":}]":   {"rows.jsonl:1", "invalid character"},
		"[]":                       {"rows.jsonl", "it has no rows"},
		"[{\"a\":1},\n]":           {"rows.jsonl:1", "a comma stands behind the last row"},
		"{\"a\":1},\n{\"a\":2}":    {"rows.jsonl:1", "a comma stands behind the row"},
		"{\n  \"a\": 1,\n \"b\": 2\n}": {"rows.jsonl:1",
			"an object over several lines: write each row on one line, or all rows as a list"},
	} {
		_, problems := rowsOf(t, "rows.jsonl", text, noContext)
		wantProblem(t, problems, want[0], want[1])
	}
}

func TestAnObjectAroundTheRowsIsToldOf(t *testing.T) {
	t.Parallel()
	const typed = `{"context":[{"type":"input","schema":{"properties":{"items":{"type":"array"}}}}]}`
	for text, warned := range map[string]bool{
		`{"data": [{"a": 1}, {"a": 2}]}`: true, "{\"data\": [{\"a\": 1}]}\n{\"data\": [{\"a\": 2}]}": false,
		`{"items": [{"a": 1}]}`: false, `{"data": [1]}`: false, `{"data": [{"a": 1}], "of": 1}`: false,
	} {
		_, problems := rowsOf(t, "rows.json", text, typed)
		if (len(problems) > 0) != warned || len(problems.Errors()) > 0 {
			t.Errorf("%s: %v", text, problems)
		}
	}
}

func TestTwoRowsNeverBecomeOneInstance(t *testing.T) {
	t.Parallel()
	_, problems := rowsOf(t, "rows.jsonl", `{"_instance":"x","a":1}`+"\n"+`{"_instance":"y","a":1}`+"\n\n"+
		`{"_instance":"x","b":2}`, noContext)
	wantProblem(t, problems, "rows.jsonl:4 $._instance",
		"rows.jsonl:1 already gives instance x its input: one instance cannot have two rows")
	_, problems = rowsOf(t, "rows.csv", "_instance,a\nx,1\nx,2\n", noContext)
	wantProblem(t, problems, "rows.csv:3 $._instance", "rows.csv:2 already gives instance x its input")
	_, problems = rowsOf(t, "rows.jsonl", `{"_instance":"x","type":"state","a":1}`,
		`{"context":[{"type":"state","_instance":"x","state":{"b":1}}]}`)
	wantProblem(t, problems, "rows.jsonl:1 $._instance", "the Idea already gives instance x its state")
	wantRows(t, "rows.jsonl", `{"_instance":"x","a":1}`+"\n"+`{"_instance":"x","type":"state","a":1}`,
		`{"context":[{"type":"state","_instance":"x","schema":{}}]}`,
		`{"_instance":"x","input":{"a":1},"type":"input"}`+"\n"+`{"_instance":"x","a":1,"type":"state"}`)
}

func TestTypesAreProposedForColumnsThatLookLikeThem(t *testing.T) {
	t.Parallel()
	_, problems := rowsOf(t, "rows.csv", "n,ok,zip,name,both\n1.5,TRUE,01234,x,1\n,false,10115,y,true\n", noContext)
	wantProblem(t, problems, "rows.csv:1",
		`these columns were read as texts, because the Idea gives them no type: "n" (number), "ok" (boolean). If`)
	wantProblem(t, problems, "rows.csv:1",
		`add its type to the Idea's context: {"schema":{"properties":{"n":{"type":"number"},"ok":{"type":"boolean"}}},"type":"input"}`)
	if len(problems) != 1 || !problems[0].IsWarning {
		t.Errorf("%v", problems)
	}
	typed := `{"context":[{"type":"input","schema":{"properties":{"n":{"type":"string"},"ok":{"type":"boolean"}}}}]}`
	if _, problems = rowsOf(t, "rows.csv", "n,ok\n1.5,TRUE\n", typed); len(problems) > 0 {
		t.Errorf("of columns with a type it says %v", problems)
	}
	_, problems = rowsOf(t, "rows.csv", "type,n\nstate,7\n", noContext)
	wantProblem(t, problems, "rows.csv:1", `{"schema":{"properties":{"n":{"type":"number"}}},"type":"state"}`)
}

// Tables as spreadsheets write them are read where it can be told for sure what they say, and refused with a cure where
// not.
func TestATableIsReadAsSpreadsheetsWriteIt(t *testing.T) {
	t.Parallel()
	const typed = `{"context":[{"type":"input","schema":{"required":["name","amount"],
		"properties":{"amount":{"type":"number"},"n":{"type":"integer"}}}}]}`
	utf16 := func(order binary.ByteOrder, text string) string {
		var b bytes.Buffer
		for _, unit := range utf16.Encode([]rune("\uFEFF" + text)) {
			_ = binary.Write(&b, order, unit)
		}
		return b.String()
	}
	const rows = "name;amount\r\nMüller;12.50\r\n;\r\n  ; \r\n"
	for name, text := range map[string]string{
		"semicolons": rows, "tabs": strings.ReplaceAll(rows, ";", "\t"), "commas": strings.ReplaceAll(rows, ";", ","),
		"a mark": "\uFEFF" + rows, "Excel's own line": "sep=;\r\n" + rows,
		"another separator":        "sep=|\n" + strings.ReplaceAll(rows, ";", "|"),
		"UTF-16, little end first": utf16(binary.LittleEndian, rows),
		"UTF-16, big end first":    utf16(binary.BigEndian, rows),
		"names in quotes":          strings.Replace(rows, "name;", `"name";`, 1),
		"empty lines first":        "\r\n \r\n" + rows, "empty lines, then Excel's own": "\nsep=;\n" + rows,
		"bars":                       strings.ReplaceAll(rows, ";", "|"),
		"carriage returns alone":     strings.ReplaceAll(rows, "\n", ""),
		"columns without anything":   strings.NewReplacer("amount", "amount;; ", "12.50", "12.50;;").Replace(rows),
		"a cell without anything":    strings.Replace(rows, "12.50", "12.50;", 1),
		"a carriage return too many": strings.ReplaceAll(rows, "\r", "\r\r"), "DOS's end of a file": rows + "\x1a",
		"spaces around names": strings.Replace(rows, "name;amount", "\u00a0name ; amount\u200b", 1),
	} {
		got, problems := rowsOf(t, "rows.csv", text, typed)
		if want := `{"_instance":"①","input":{"amount":12.50,"name":"Müller"},"type":"input"}`; got != want ||
			len(problems.Errors()) > 0 {
			t.Errorf("%s: %s %v", name, got, problems)
		}
		wantProblem(t, problems, "rows.csv", "2 empty rows are left out")
	}
	for name, c := range map[string]struct{ text, place, want string }{
		"Windows-1252": {"name,amount\nA,1\nM\xfcller,2\n", "rows.csv:3", `save the file as UTF-8`},
		"UTF-16 without mark": {strings.Join(strings.Split("name,amount\nA,1\n", ""), "\x00") + "\x00", "rows.csv:1",
			"UTF-16 without a byte order mark"},
		"half of UTF-16": {"\xff\xfea", "rows.csv", "begins as UTF-16 but is broken"},
		"two separators": {"name,first;amount\nA;1\n", "rows.csv:1", "the header has a comma and a semicolon"},
		"no such column": {"sep=;\nname;sum\nA;1\n", "rows.csv:2",
			`requires "amount", but no column has that name; the columns are "name", "sum"`},
		"an empty cell": {"name,amount\nA,1\nB,\n", "rows.csv:3 $",
			"the row does not fit the schema of the input"},
		"a decimal comma": {"name;amount\nA;12,50\n", "rows.csv:2 $.amount",
			`not "12,50": a decimal is written with a point`},
		"thousands": {"name;amount\nA;1 234,50\n", "rows.csv:2 $.amount", "thousands are not separated"},
		"thousands, no-break": {"name;amount\nA;1\u00a0234\n", "rows.csv:2 $.amount",
			"thousands are not separated"},
		"an error": {"name,amount\n#N/A,1\n", "rows.csv:2 $.name",
			"says #N/A, which is an error of the spreadsheet"},
		"an error, in German": {"name;amount\n#WERT!;1\n", "rows.csv:2 $.name",
			"is an error of the spreadsheet"},
		"an error, by LibreOffice": {"name,amount\nErr:502,1\n", "rows.csv:2 $.name",
			"is an error of the spreadsheet"},
		"an error, in Russian": {"name,amount\n#ЗНАЧ!,1\n", "rows.csv:2 $.name",
			"is an error of the spreadsheet"},
		"an error of a linked cell": {"name,amount\n#FIELD!,1\n", "rows.csv:2 $.name",
			"is an error of the spreadsheet"},
		"thousands, with commas": {"name,amount\nA,\"1,234\"\n", "rows.csv:2 $.amount",
			"thousands are not separated"},
		"the header again": {"name,amount\nA,1\n\uFEFFname,amount \nB,2\n", "rows.csv:3",
			"the row repeats the header"},
		"a quote in a cell": {"name,amount\n5\" disk,1\n", "rows.csv:2", "put the whole cell in quotes"},
		"JSON":              {"[{\"name\":\"A\"}]\n", "rows.csv", "it begins as JSON or as a page"},
		"a page": {"\n<!DOCTYPE html>\n<p>Log in</p>\n", "rows.csv",
			"it begins as JSON or as a page"},
		"thousands that look whole":     {"name,amount,n\nA,1,1.000\n", "rows.csv:2 $.n", "thousands are not separated"},
		"a narrow column":               {"name,amount\n########,1\n", "rows.csv:2 $.name", "was too narrow"},
		"a shortened number":            {"name,amount\n1.23457E+15,1\n", "rows.csv:2 $.name", "its digits are lost"},
		"a shortened number, in German": {"name;amount\n1,2E+11;1\n", "rows.csv:2 $.name", "its digits are lost"},
		"a shortened whole number":      {"name,amount,n\nA,1,1.23457E+15\n", "rows.csv:2 $.n", "its digits are lost"},
		"a long row":                    {"sep=;\nname;amount\nA;1;2\n", "rows.csv:3", "more or fewer cells than the header"},
		"alike":                         {"_instance,name,amount\n①,A,1\n1,B,2\n", "rows.csv:3 $._instance", "are both typed 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := rowsOf(t, "rows.csv", c.text, typed)
			wantProblem(t, problems, c.place, c.want)
			if n := len(problems.Errors()); n != 1 {
				t.Errorf("%d problems: %v", n, problems)
			}
		})
	}
	_, problems := rowsOf(t, "rows.csv",
		"_instance,name,amount\nMüller,A,1\nm\u00fcller\u200b,B,2\nother,C,3\n", typed)
	wantProblem(t, problems, "rows.csv:3 $._instance", "looks like")
	if len(problems.Errors()) > 0 || len(problems) != 1 {
		t.Errorf("tokens that look alike: %v", problems)
	}
	_, problems = rowsOf(t, "rows.jsonl", `{"name":"A"}`, typed)
	wantProblem(t, problems, "rows.jsonl:1 $", "the row does not fit the schema of the input")
	shared := strings.Replace(typed, `"context":[`, `"context":[{"type":"input","input":{"amount":3}},`, 1)
	wantRows(t, "rows.csv", "name\nA\n", shared, `{"_instance":"①","input":{"name":"A"},"type":"input"}`)
}

func TestWhatProgramsDoToTablesIsReadOrToldOf(t *testing.T) {
	t.Parallel()
	const typed = `{"context":[{"type":"input","schema":{"required":["name"],
		"properties":{"name":{"minLength":1},"day":{"type":"string","format":"date"},"note":{"type":"string"}}}}]}`
	for text, want := range map[string]string{
		"name,note\r\r\nA,x\r\r\n":         `{"name":"A","note":"x"}`,
		"name,note\rA,\"x\ny\"\r":          `{"name":"A","note":"x\ny"}`,
		"name\n\"=\"\"007\"\"\"\n":         `{"name":"007"}`,
		"name,day,note\nA,,\n":             `{"name":"A","note":""}`,
		"name,day\nA,2025-12-31\n":         `{"day":"2025-12-31","name":"A"}`,
		"name,note\nname,x\n":              `{"name":"name","note":"x"}`,
		"name,note\nÀ «CAFÉ»,Straße 5 €\n": `{"name":"À «CAFÉ»","note":"Straße 5 €"}`,
	} {
		wantRows(t, "rows.csv", text, typed, `{"_instance":"①","input":`+want+`,"type":"input"}`)
		if _, problems := rowsOf(t, "rows.csv", text, typed); len(problems) > 0 {
			t.Errorf("%q: %v", text, problems)
		}
	}
	for text, want := range map[string][2]string{
		"name\nA\nM\uFFFDller\n":   {"rows.csv:3", "a letter was lost when this was saved before"},
		"name\nA\nMÃ¼ller\n":       {"rows.csv:3", "look like others in the wrong character set"},
		"\"name;note\"\n\"A;x\"\n": {"rows.csv:1", "remove the quotes around whole lines"},
	} {
		_, problems := rowsOf(t, "rows.csv", text, noContext)
		wantProblem(t, problems, want[0], want[1])
		if len(problems.Errors()) > 0 || len(problems) != 1 {
			t.Errorf("%q: %v", text, problems)
		}
	}
	const numbers = `{"context":[{"type":"input","schema":{"required":["n"],
		"properties":{"n":{"type":"number"},"maybe":{"type":["integer","null"]},"note":{"type":"string"}}}}]}`
	for text, want := range map[string]string{
		"n,maybe,note,more\n1,\\N,\\N,\\N\n":                                               `{"maybe":null,"more":"","n":1,"note":""}`,
		"n,maybe,note,more\n1,NULL,NULL,NULL\n":                                            `{"maybe":null,"more":"NULL","n":1,"note":"NULL"}`,
		"#TYPE System.Management.Automation.PSCustomObject\n\"n\",\"note\"\n\"1\",\"x\"\n": `{"n":1,"note":"x"}`,
		"\n#TYPE Selected.System.String\r\n\"n\";\"note\"\r\n\"1\";\"x\"\r\n":              `{"n":1,"note":"x"}`,
	} {
		wantRows(t, "rows.csv", text, numbers, `{"_instance":"①","input":`+want+`,"type":"input"}`)
		_, problems := rowsOf(t, "rows.csv", text, numbers)
		if strings.Contains(text, "#TYPE") {
			wantProblem(t, problems, "rows.csv", "the line #TYPE above the header is left out")
		}
	}
	for text, place := range map[string]string{"n,note\n1,x\n\\N,x\n": "rows.csv:3 $", "n,note\nNULL,x\n": "rows.csv:2 $",
		"#TYPE X\nn,note\n1,x\n,x\n": "rows.csv:4 $"} {
		_, problems := rowsOf(t, "rows.csv", text, numbers)
		wantProblem(t, problems, place, "missing properties: 'n'")
	}
	_, problems := rowsOf(t, "rows.csv", "name,day\n,\n  ,2025-12-31\n,2025-12-31\n", typed)
	wantProblem(t, problems, "rows.csv:4 $", "missing properties: 'name'")
}

func TestATableThatIsNotCalledSoIsToldOfItsName(t *testing.T) {
	t.Parallel()
	wantRows(t, "rows.TSV", "a\tb\n1\t2\n", noContext, `{"_instance":"①","input":{"a":"1","b":"2"},"type":"input"}`)
	_, problems := rowsOf(t, "rows.txt", "a\tb\n1\t2\n", noContext)
	wantProblem(t, problems, "rows.txt", "the name of a table ends with .csv or .tsv")
	if len(problems) != 1 {
		t.Error(problems)
	}
}

// What may be as it should, and may not, is warned of.
func TestPointsThatMayStandForThousandsAreToldOf(t *testing.T) {
	t.Parallel()
	const typed = `{"context":[{"type":"input","schema":{"properties":{"amount":{"type":"number"}}}}]}`
	for text, warned := range map[string]bool{
		"name\tamount\nA\t1.234\n":              true,
		"name;amount\nA;1.234\nB;12.500\nC;7\n": true, "name;amount\nA;1.234\nB;12.5\n": false,
		"name,amount\nA,1.234\n": false, "name;amount\nA;0.125\n": false, "name;amount\nA;1234\n": false,
	} {
		_, problems := rowsOf(t, "rows.csv", text, typed)
		if len(problems.Errors()) > 0 || (len(problems) > 0) != warned {
			t.Errorf("%q: %v", text, problems)
		}
	}
	wantRows(t, "rows.csv", "measure\n1.23457E+15\n", strings.Replace(typed, "amount", "measure", 1),
		`{"_instance":"①","input":{"measure":1.23457E+15},"type":"input"}`)
}
