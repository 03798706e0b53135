package server_test

import "processidea/signing"

func deciders() *signing.Source { return nil }
