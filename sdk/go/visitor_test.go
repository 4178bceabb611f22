package meridian_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"meridian"
)

// visit sends a request through the middleware and returns what its handler sees.
func visit(
	t *testing.T, client *meridian.Client, peer, forwarded string, options meridian.VisitorOptions,
) meridian.Visitor {
	t.Helper()
	var visitor meridian.Visitor
	called := false
	handler := http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		called, visitor = true, meridian.VisitorOf(request.Context())
	})
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	request.RemoteAddr = peer
	if forwarded != "" {
		request.Header.Set("X-Forwarded-For", forwarded)
	}
	writer := httptest.NewRecorder()
	meridian.LocateVisitors(client, options)(handler).ServeHTTP(writer, request)
	if !called || writer.Code != 200 {
		t.Error("the request failed")
	}
	return visitor
}

func TestVisitorsAreLocated(t *testing.T) {
	client := newClient(t)
	header := meridian.VisitorOptions{Header: "X-Forwarded-For"}
	for name, test := range map[string]struct {
		peer, forwarded string
		options         meridian.VisitorOptions
	}{
		"by their connection":                {london + ":1", "8.8.8.8", meridian.VisitorOptions{}},
		"by an IPv6 connection":              {"[2a00:1450:4009::1]:1", "", meridian.VisitorOptions{}},
		"by IPv4 in IPv6":                    {"[::ffff:" + london + "]:1", "", meridian.VisitorOptions{}},
		"by a trusted header":                {"10.0.0.1:1", london, header},
		"by its last address":                {"10.0.0.1:1", "8.8.8.8, " + london, header},
		"by an address with a port":          {"10.0.0.1:1", london + ":1234", header},
		"by an IPv6 address with a port":     {"10.0.0.1:1", "[2a00:1450:4009::1]:1234", header},
		"by their connection without header": {london + ":1", "", header},
	} {
		visitor := visit(t, client, test.peer, test.forwarded, test.options)
		if visitor.Location == nil || *visitor.Location.City != "London" || visitor.Geolocation == nil {
			t.Errorf("%s: %+v", name, visitor)
		}
	}
}

func TestPrivateVisitorsNeedNoCall(t *testing.T) {
	service := newStub(t, found)
	client := clientOf(t, service.url, "key")
	for _, peer := range []string{
		"10.1.2.3:1", "127.0.0.1:1", "100.64.0.1:1", "224.0.0.1:1", "[::1]:1", "[fe80::1%eth0]:1",
		"[::ffff:10.0.0.1]:1", "[fd00::1]:1", "[2001:10::1]:1", "[3fff::1]:1", "192.0.0.8:1", "", "@",
	} {
		if visitor := visit(t, client, peer, "", meridian.VisitorOptions{}); visitor.Geolocation != nil {
			t.Errorf("%s: %+v", peer, visitor)
		}
	}
	if service.seen() != 0 {
		t.Error(service.requests)
	}
	options := meridian.VisitorOptions{LocatePrivate: true}
	if visitor := visit(t, client, "10.1.2.3:1", "", options); visitor.Geolocation == nil {
		t.Error("a private address is not located though it is to be")
	}
}

func TestALookUpThatFailsDoesNotFailTheRequest(t *testing.T) {
	for name, reply := range map[string]reply{"503": unavailable, "cut": cut, "silent": {silent: true}} {
		t.Run(name, func(t *testing.T) {
			service := newStub(t, reply)
			var failures []error
			options := meridian.VisitorOptions{
				Timeout: 50 * time.Millisecond,
				OnError: func(err error) { failures = append(failures, err) },
			}
			visitor := visit(t, clientOf(t, service.url, "key"), london+":1", "", options)
			if visitor != (meridian.Visitor{}) || len(failures) != 1 || service.seen() != 1 {
				t.Error(visitor, failures, service.requests)
			}
		})
	}
}
