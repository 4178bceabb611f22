package meridian

import (
	"net/http"
	"time"
)

// Option changes how a client works.
type Option func(*Client)

// WithTimeout limits each attempt of a call; by default to 10 seconds. The context limits the call.
func WithTimeout(timeout time.Duration) Option {
	return func(client *Client) { client.timeout = timeout }
}

// WithRetries allows so many further attempts after a failure that may pass; by default 3. If the
// service asks to wait longer than maxWait, by default a minute, the call fails at once.
func WithRetries(retries int, maxWait time.Duration) Option {
	return func(client *Client) { client.retries, client.maxWait = retries, maxWait }
}

// WithConcurrency sends up to so many batches of a list at a time; by default 2.
func WithConcurrency(batches int) Option {
	return func(client *Client) { client.concurrency = max(1, batches) }
}

// WithCache keeps the answers of so many networks for ttl; by default 10,000 for an hour. 0: none.
func WithCache(networks int, ttl time.Duration) Option {
	return func(client *Client) { client.known = newKnownAnswers(networks, ttl) }
}

// WithHTTPClient replaces the HTTP client, for example to use a proxy. Redirects are never followed.
func WithHTTPClient(http *http.Client) Option {
	return func(client *Client) { client.http = http }
}
