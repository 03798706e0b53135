package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ask sends a Request to a run and gives what the LLM said.
func ask(t *testing.T, run string) (status int, said string) {
	t.Helper()
	body := `{"model": "scripted", "messages": [{"role": "user", "content": "Go on."}]}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, run+"/v1/chat/completions",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if answer.StatusCode != http.StatusOK || json.Unmarshal(data, &c) != nil || len(c.Choices) != 1 {
		return answer.StatusCode, string(data)
	}
	return answer.StatusCode, c.Choices[0].Message.Content
}

func TestEachRunIsAnsweredFromItsFirstReplyOn(t *testing.T) {
	s := httptest.NewServer(newRunServer(true))
	defer s.Close()
	for _, c := range []struct{ path, want string }{
		{"/chain/2/a", `"_outputPath":"step1"`}, {"/chain/2/a", `"_outputPath":"step2"`},
		{"/chain/2/b", `"_outputPath":"step1"`},
		{"/chain/2/a", `{"calls":[],"output":null}`}, {"/fanout/3/a", `"n":3`}, {"/batch/2/a", `"n":1`},
		{"/batch/2/a", `"n":2`},
		{"/diamond/8/a", `"_outputPath":"c8"`}, {"/diamond/8/a", `"text":"xxx`},
		{"/diamond-one-call/8/a", `"_outputPath":"c1"`},
	} {
		if status, said := ask(t, s.URL+c.path); status != http.StatusOK || !strings.Contains(said, c.want) {
			t.Errorf("%s: %d %s, without %s", c.path, status, said, c.want)
		}
	}
}

func TestAnUnknownWorkOrSizeIsNotFound(t *testing.T) {
	s := httptest.NewServer(newRunServer(true))
	defer s.Close()
	for path, want := range map[string]string{"/chains/2/a": `no work "chains"`, "/chain/0/a": `"0" is no size`,
		"/chain/x/a": `"x" is no size`} {
		if status, said := ask(t, s.URL+path); status != http.StatusNotFound || !strings.Contains(said, want) {
			t.Errorf("%s: %d %s, not 404 with %s", path, status, said, want)
		}
	}
}

func TestTheGapsLieBetweenTheRequests(t *testing.T) {
	s := httptest.NewServer(newRunServer(true))
	defer s.Close()
	for range 3 {
		ask(t, s.URL+"/chain/2/a")
	}
	answer, err := http.Get(s.URL + "/chain/2/a/gaps") //nolint:noctx // it ends with the test's server
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var told struct {
		Requests int
		Gaps     []float64
	}
	if err := json.NewDecoder(answer.Body).Decode(&told); err != nil {
		t.Fatal(err)
	}
	if told.Requests != 3 || len(told.Gaps) != 2 || told.Gaps[0] <= 0 || told.Gaps[1] <= 0 {
		t.Errorf("3 Requests are told as %+v", told)
	}
}

func TestItServesUntilItsInputEnds(t *testing.T) {
	in, stop := io.Pipe()
	out, told := io.Pipe()
	over := make(chan error)
	go func() { over <- serveUntilEOF(in, told, true) }()
	var url string
	if _, err := fmt.Fscanln(bufio.NewReader(out), &url); err != nil {
		t.Fatal(err)
	}
	if status, said := ask(t, url+"/fanout/1/a"); status != http.StatusOK {
		t.Errorf("%d %s", status, said)
	}
	_ = stop.Close()
	if err := <-over; err != nil {
		t.Error(err)
	}
}
