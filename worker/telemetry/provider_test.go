package telemetry

import "testing"

func TestAProviderHasTheConventionsNameOrItsHosts(t *testing.T) {
	for host, want := range map[string]string{
		"api.openai.com": "openai", "shop.openai.azure.com": "azure.ai.openai", "api.mistral.ai": "mistral_ai",
		"llm.example.org":            "llm.example.org",
		"api.openai.com.example.org": "api.openai.com.example.org", "openai.azure.com": "openai.azure.com",
	} {
		if got := providerName(host); got != want {
			t.Errorf("%s is %q, want %q", host, got, want)
		}
	}
}
