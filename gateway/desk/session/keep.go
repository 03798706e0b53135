package session

import (
	"net/http"
	"time"
)

// Keep stores a value in a sealed cookie for a while. Browsers send it even if a link of another site leads here.
func (s *Sessions) Keep(w http.ResponseWriter, r *http.Request, name string, lasts time.Duration, v any) error {
	text, err := s.Seal(name, v)
	if err != nil {
		return err
	}
	c := s.valueCookie(r, name)
	c.Value, c.MaxAge = text, int(lasts.Seconds())
	http.SetCookie(w, c)
	return nil
}

// Take reads the kept value, once; ok is false if there is none.
func (s *Sessions) Take(w http.ResponseWriter, r *http.Request, name string, to any) (ok bool) {
	c := s.valueCookie(r, name)
	got, err := r.Cookie(c.Name)
	if err != nil || !s.Unseal(name, got.Value, to) {
		return false
	}
	c.MaxAge = -1
	http.SetCookie(w, c)
	return true
}

func (s *Sessions) valueCookie(r *http.Request, name string) *http.Cookie {
	c := s.cookie(r)
	c.Name, c.SameSite = c.Name+"-"+name, http.SameSiteLaxMode
	return c
}
