package app

import (
	"os"

	"processidea/client"
	"processidea/starter/internal/exit"
	"processidea/store/signing"
)

// SigningKey reads the key that signs decisions from the named file, otherwise from the file that PROCESSIDEA_KEY
// names. It returns nil if neither is set.
func SigningKey(file string) (client.Signer, error) {
	if file == "" {
		file = os.Getenv(signing.KeyVariable)
	}
	if file == "" {
		return nil, nil
	}
	k, err := signing.LoadPrivateKey(file)
	if err != nil {
		return nil, exit.Usagef("%w", err)
	}
	return k, nil
}
