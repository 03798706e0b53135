package engine

import (
	"context"
	"strings"
	"testing"

	"processidea/llm"
	"processidea/store/blobs"
)

func TestTheLLMComesFromTheEnvironment(t *testing.T) {
	env := map[string]string{"OPENAI_BASE_URL": " http://h/v1 ", "OPENAI_API_KEY": "k\n", "OPENAI_MODEL": "m",
		"OPENAI_RPM": " 60 ", "OPENAI_TPM": "9000"}
	want := llm.Config{BaseURL: "http://h/v1", APIKey: "k", Model: "m", RPM: "60", TPM: "9000"}
	if got := LLMFromEnvironment(func(name string) string { return env[name] }); got != want {
		t.Errorf("%+v", got)
	}
	if got := LLMFromEnvironment(func(string) string { return "" }); got != (llm.Config{}) {
		t.Errorf("%+v", got)
	}
}

func TestAWorkerWithALimitThatIsNoneIsNotMade(t *testing.T) {
	store, err := blobs.Open(context.Background(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	_, err = NewWorker(nil, Dependencies{Store: store, LLM: llm.Config{TPM: "plenty"}})
	if err == nil || !strings.Contains(err.Error(), `OPENAI_TPM: want a whole number from 1 to 1000000000000, not "plenty"`) {
		t.Errorf("%v", err)
	}
}
