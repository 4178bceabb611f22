package meridian_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"meridian"
)

var (
	found   = reply{status: 200, body: `{"location": {"continent": {"code": "EU", "name": "Europe"}, "city": "London"}}`}
	batch   = reply{status: 200, body: `{"results": [` + found.body + `]}`}
	limited = reply{
		status:  429,
		body:    `{"error": {"code": "RATE_LIMITED", "message": "Slower"}}`,
		headers: map[string]string{"Retry-After": "1"},
	}
	unavailable = reply{status: 503, body: `{"error": {"code": "SERVICE_UNAVAILABLE", "message": "Later"}}`}
	cut         = reply{cut: true}
)

func TestALookUpIsRepeated(t *testing.T) {
	for name, first := range map[string]reply{"429": limited, "503": unavailable, "cut": cut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newStub(t, first, found)
			result, err := clientOf(t, service.url, "key").Locate(t.Context(), london)
			if err != nil || *result.Location.City != "London" || service.seen() != 2 {
				t.Error(result, err, service.requests)
			}
		})
	}
}

func TestAListIsRepeatedUnlessItMayHaveBeenCounted(t *testing.T) {
	for name, test := range map[string]struct {
		first reply
		seen  int
	}{
		"429": {limited, 2}, "503": {unavailable, 2}, "cut": {cut, 1}, "502": {reply{status: 502}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newStub(t, test.first, batch)
			_, err := clientOf(t, service.url, "key").LocateMany(t.Context(), []string{london})
			if (err == nil) != (test.seen == 2) || service.seen() != test.seen {
				t.Error(err, service.requests)
			}
		})
	}
}

func TestACallGivesUp(t *testing.T) {
	for name, test := range map[string]struct {
		reply  reply
		option meridian.Option
		code   string
	}{
		"without retries":     {limited, meridian.WithRetries(0, time.Minute), "RATE_LIMITED"},
		"if the wait is long": {limited, meridian.WithRetries(3, time.Millisecond), "RATE_LIMITED"},
		"on a cut connection": {cut, meridian.WithRetries(0, 0), meridian.NetworkError},
		"on a foreign answer": {reply{status: 200, body: "<html>"}, meridian.WithRetries(3, time.Minute), meridian.UnexpectedAnswer},
		"on a redirect": {
			reply{status: 301, headers: map[string]string{"Location": "http://127.0.0.1:1"}},
			meridian.WithRetries(3, time.Minute), meridian.UnexpectedAnswer,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newStub(t, test.reply)
			_, err := clientOf(t, service.url, "key", test.option).Locate(t.Context(), london)
			var failure *meridian.Error
			if !errors.As(err, &failure) || failure.Code != test.code || service.seen() != 1 {
				t.Errorf("got %v after %v", err, service.requests)
			}
		})
	}
}

func TestAnAnswerMustComeInTime(t *testing.T) {
	service := newStub(t, reply{silent: true})
	options := []meridian.Option{meridian.WithTimeout(20 * time.Millisecond), meridian.WithRetries(0, 0)}
	_, err := clientOf(t, service.url, "key", options...).Locate(t.Context(), london)
	var failure *meridian.Error
	if !errors.As(err, &failure) || failure.Code != meridian.Timeout || failure.Status != 0 {
		t.Error(err)
	}
}

func TestACancelledCallReturnsTheCause(t *testing.T) {
	enough := errors.New("enough")
	for name, reply := range map[string]reply{"waiting for an answer": {silent: true}, "between attempts": limited} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newStub(t, reply)
			client := clientOf(t, service.url, "key")
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				for service.seen() == 0 {
					time.Sleep(time.Millisecond)
				}
				cancel(enough)
			}()
			_, err := client.LocateMany(ctx, []string{london})
			if !errors.Is(err, enough) || service.seen() != 1 {
				t.Error(err, service.requests)
			}
		})
	}
}

func TestOtherTextsAreNoAddresses(t *testing.T) {
	service := newStub(t, found)
	client := clientOf(t, service.url, "key")
	for _, text := range []string{"", "me", ".", "..", "batch", "1.2.3", "01.2.3.4", "fe80::1%eth0", "a/b"} {
		_, err := client.Locate(t.Context(), text)
		var failure *meridian.Error
		if !errors.As(err, &failure) || failure.Code != "BAD_REQUEST" || failure.Status != 400 {
			t.Errorf("%q: %v", text, err)
		}
	}
	if service.seen() != 0 {
		t.Error(service.requests)
	}
}

func TestAKeyIsOneWordAndNeverShown(t *testing.T) {
	for _, key := range []string{"", "two words", "line\n", "schlüssel"} {
		_, err := meridian.New("http://127.0.0.1", key)
		if err == nil || (key != "" && strings.Contains(err.Error(), key)) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestOtherTextsAreNoURLs(t *testing.T) {
	for _, url := range []string{"", "example.com", "ftp://example.com", "/v1", "http://"} {
		if _, err := meridian.New(url, "key"); err == nil {
			t.Errorf("%q is accepted", url)
		}
	}
}
