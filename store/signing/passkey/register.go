package passkey

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// COSEAlgorithms are the COSE numbers of the accepted algorithms: ES256, EdDSA and RS256. A browser uses the first that
// it supports.
var COSEAlgorithms = []int{int(webauthncose.AlgES256), int(webauthncose.AlgEdDSA), int(webauthncose.AlgRS256)}

// Registration is a passkey that a browser has made.
type Registration struct {
	ID        string // id of the credential, in base64url
	PublicKey crypto.PublicKey
}

// VerifyRegistration reads the response of a browser that made a passkey (PublicKeyCredential as JSON), and checks it
// against the Use and the challenge. The make of the device is not checked.
func (u *Site) VerifyRegistration(response []byte, challenge string) (Registration, error) {
	credential, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return Registration{}, fmt.Errorf("what the browser gave is no passkey: %w", describeError(err))
	}
	var algorithms []protocol.CredentialParameter
	for _, a := range COSEAlgorithms {
		algorithms = append(algorithms, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType,
			Algorithm: webauthncose.COSEAlgorithmIdentifier(a)})
	}
	_, err = credential.Verify(challenge, u.RPID, u.Origins, nil, nil, protocol.TopOriginExplicitVerificationMode,
		false,
		true, true, nil, algorithms,
		protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if err != nil {
		return Registration{}, fmt.Errorf(
			"this passkey was not made just now, on this page, by a device that checked the person: %w",
			describeError(err))
	}
	attested := credential.Response.AttestationObject.AuthData.AttData
	block, _ := pem.Decode([]byte(webauthncose.DisplayPublicKey(attested.CredentialPublicKey)))
	if block == nil {
		return Registration{}, errors.New("the key of the passkey cannot be read")
	}
	publicKey, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return Registration{}, errors.New("the key of the passkey cannot be read")
	}
	return Registration{ID: encodeBase64URL(credential.RawID), PublicKey: publicKey}, nil
}

// describeError returns the library's whole description of an error.
func describeError(err error) error {
	if protocolErr, isProtocolErr := errors.AsType[*protocol.Error](err); isProtocolErr && protocolErr.DevInfo != "" {
		return fmt.Errorf("%s (%s)", protocolErr.Details, protocolErr.DevInfo)
	}
	return err
}
