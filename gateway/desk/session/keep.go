package session

import (
	"net/http"
	"time"
)

// SetValue stores a value in a sealed cookie for a while. Browsers send it even if a link of another site leads here.
func (s *Sessions) SetValue(w http.ResponseWriter, r *http.Request, name string, maxAge time.Duration, v any) error {
	text, err := s.Seal(name, v)
	if err != nil {
		return err
	}
	c := s.newValueCookie(r, name)
	c.Value, c.MaxAge = text, int(maxAge.Seconds())
	http.SetCookie(w, c)
	return nil
}

// TakeValue reads the kept value, once; ok is false if there is none.
func (s *Sessions) TakeValue(w http.ResponseWriter, r *http.Request, name string, target any) (ok bool) {
	c := s.newValueCookie(r, name)
	receivedCookie, err := r.Cookie(c.Name)
	if err != nil || !s.Unseal(name, receivedCookie.Value, target) {
		return false
	}
	c.MaxAge = -1
	http.SetCookie(w, c)
	return true
}

func (s *Sessions) newValueCookie(r *http.Request, name string) *http.Cookie {
	c := s.newCookie(r)
	c.Name, c.SameSite = c.Name+"-"+name, http.SameSiteLaxMode
	return c
}
