// Package llmconfig is `config.llm` of an Idea: which LLMs answer its Requests, in which order they are asked, and how. Their servers' addresses and
// keys are the worker's.
package llmconfig
