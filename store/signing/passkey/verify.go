package passkey

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"

	"processidea/model/jsonval"
)

// Verify checks the third part of a proof: that the passkey with this public key signed the payload, on a page on which
// it may be used, and that its device verified the person. The error says in words for people what is wrong.
func (u *Site) Verify(publicKey crypto.PublicKey, payload, assertionPart []byte) error {
	a, err := parseAssertionPart(assertionPart)
	if err != nil {
		return err
	}
	if err := u.checkClientData(a.ClientDataJSON, encodeBase64URL(Challenge(payload))); err != nil {
		return err
	}
	if err := u.checkAuthenticatorData(a.AuthenticatorData); err != nil {
		return err
	}
	if !isSignatureValid(publicKey, a) {
		return errors.New("the passkey's signature does not match what the passkey says")
	}
	return nil
}

// checkClientData checks which page the browser was on, and what the passkey signed.
func (u *Site) checkClientData(data []byte, challenge string) error {
	m, err := jsonval.DecodeObject(data)
	if err != nil {
		return errors.New("what the browser said of the page (clientDataJSON) is no JSON object")
	}
	origin := jsonval.AsText(m["origin"])
	_, isFramed := m["topOrigin"]
	switch {
	case m["type"] != string(protocol.AssertCeremony):
		return fmt.Errorf("the passkey was used for %s, not to sign (%s)", clipJSON(m["type"]),
			protocol.AssertCeremony)
	case m["challenge"] != challenge:
		return errors.New("the passkey signed something else: its challenge is not the SHA-256 of what the proof says")
	case !slices.Contains(u.Origins, origin):
		return fmt.Errorf("the passkey was used on a page of %s, but may be used only on those of %s", clipJSON(origin),
			strings.Join(u.Origins, ", "))
	case m["crossOrigin"] != nil && m["crossOrigin"] != false, isFramed:
		return errors.New("the passkey was used in a frame of another site's page")
	}
	return nil
}

func clipJSON(v any) string { return jsonval.Clip(jsonval.EncodeToString(v), 100) }

// checkAuthenticatorData checks what the device reports: the site, and that a person was present whom it verified.
func (u *Site) checkAuthenticatorData(data []byte) error {
	var authenticatorData protocol.AuthenticatorData
	if err := authenticatorData.Unmarshal(data); err != nil {
		return errors.New("what the device said (authenticatorData) cannot be read")
	}
	siteHash := sha256.Sum256([]byte(u.RPID))
	switch {
	case !bytes.Equal(authenticatorData.RPIDHash, siteHash[:]):
		return fmt.Errorf("the passkey was used for another site than %s", u.RPID)
	case !authenticatorData.Flags.UserPresent():
		return errors.New("the device did not find that anybody was there")
	case !authenticatorData.Flags.UserVerified():
		return errors.New(
			"the device did not find out who used the passkey: it asked for no PIN, fingerprint or the like")
	}
	return nil
}

// isSignatureValid reports whether the signature covers the data of the device and of the browser.
func isSignatureValid(publicKey crypto.PublicKey, a Assertion) bool {
	clientHash := sha256.Sum256(a.ClientDataJSON)
	signedData := slices.Concat(a.AuthenticatorData, clientHash[:])
	digest := sha256.Sum256(signedData)
	switch publicKey := publicKey.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(publicKey, signedData, a.Signature)
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(publicKey, digest[:], a.Signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(publicKey, crypto.SHA256, digest[:], a.Signature) == nil
	}
	return false
}
