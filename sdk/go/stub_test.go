package meridian_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"meridian"
)

const (
	london    = "81.2.69.160"
	neighbour = "81.2.69.161"
	unknown   = "10.0.0.1"
)

// newClient returns a client of the service that tests/sdk/parts/client-service.ts starts.
func newClient(t *testing.T, options ...meridian.Option) *meridian.Client {
	t.Helper()
	return clientOf(t, os.Getenv("MERIDIAN_URL"), os.Getenv("MERIDIAN_KEY"), options...)
}

func clientOf(t *testing.T, url, key string, options ...meridian.Option) *meridian.Client {
	t.Helper()
	client, err := meridian.New(url, key, options...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// reply is a prepared answer. With cut the connection is closed instead, with silent nothing is sent.
type reply struct {
	status  int
	body    string
	headers map[string]string
	cut     bool
	silent  bool
}

// stub is a server that gives prepared answers in turn, the last one again and again.
type stub struct {
	url string

	mutex    sync.Mutex
	replies  []reply
	requests []string
}

func newStub(t *testing.T, replies ...reply) *stub {
	t.Helper()
	service := &stub{replies: replies}
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply := service.next(r)
		if reply.silent {
			select {
			case <-ended:
			case <-r.Context().Done():
			}
		}
		if reply.cut || reply.silent {
			panic(http.ErrAbortHandler)
		}
		for name, value := range reply.headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(reply.status)
		_, _ = io.WriteString(w, reply.body)
	}))
	t.Cleanup(func() {
		close(ended)
		server.Close()
	})
	service.url = server.URL
	return service
}

func (s *stub) next(request *http.Request) reply {
	_, _ = io.Copy(io.Discard, request.Body)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.requests = append(s.requests, request.Method+" "+request.URL.Path)
	reply := s.replies[0]
	if len(s.replies) > 1 {
		s.replies = s.replies[1:]
	}
	return reply
}

// seen returns how many requests came.
func (s *stub) seen() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.requests)
}
