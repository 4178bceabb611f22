// Package meridian looks up IP addresses at a Meridian service.
package meridian

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Version is the version of this package.
const Version = "0.1.0"

// Client is a client of one service. Goroutines may share it. Its calls return an *Error, or the cause
// for which their context ended.
type Client struct {
	url         string
	key         string
	http        *http.Client
	timeout     time.Duration
	retries     int
	maxWait     time.Duration
	concurrency int
	known       *knownAnswers
}

// New returns a client of the service at the address, such as https://geo.example.com.
func New(address, key string, options ...Option) (*Client, error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if (target.Scheme != "http" && target.Scheme != "https") || target.Host == "" {
		return nil, errors.New("meridian: the address must be one such as https://geo.example.com")
	}
	// The message of net/http about a bad header would reach logs as a failure of the network.
	if key == "" || strings.ContainsFunc(key, func(char rune) bool { return char <= ' ' || char > '~' }) {
		return nil, errors.New("meridian: the key must be one word of ASCII")
	}
	client := &Client{
		url:         strings.TrimRight(address, "/"),
		key:         key,
		http:        &http.Client{},
		timeout:     10 * time.Second,
		retries:     3,
		maxWait:     time.Minute,
		concurrency: 2,
		known:       newKnownAnswers(10_000, time.Hour),
	}
	for _, option := range options {
		option(client)
	}
	// A redirect would carry the key to another host.
	transport := *client.http
	transport.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}
	client.http = &transport
	return client, nil
}

// Locate locates an address. The result has no Location if nobody knows where it is.
func (c *Client) Locate(
	ctx context.Context, address string, options ...LookUpOption,
) (*GeolocationResult, error) {
	parsed, err := parseAddress(address)
	if err != nil {
		// As part of a path, other texts could mean another.
		return nil, notAnAddress(err)
	}
	asked := toAsked(options)
	if known := c.known.find(parsed, asked); known != nil {
		return known, nil
	}
	query := c.known.toAsk(asked).query()
	answer, err := c.send(ctx, call{path: "/v1/ip/" + parsed.String(), query: query, mayBeUnknown: true})
	if err != nil {
		return nil, err
	}
	c.known.keep(parsed, asked, answer)
	return present(answer, asked)
}

// Me locates the address from which this call comes.
func (c *Client) Me(ctx context.Context, options ...LookUpOption) (*GeolocationResult, error) {
	query := toAsked(options).query()
	return get[GeolocationResult](ctx, c, call{path: "/v1/ip/me", query: query, mayBeUnknown: true})
}

// SummaryOptions are what a summary has beyond the default.
type SummaryOptions struct {
	// Top is the length of each list, up to 1,000; 0: 10.
	Top int
	// Privacy counts the addresses that hide who uses them.
	Privacy bool
}

// Summary counts up to 10,000 addresses by place and network.
func (c *Client) Summary(
	ctx context.Context, addresses []string, options SummaryOptions,
) (*AddressSummary, error) {
	body := struct {
		IPs     []string `json:"ips"`
		Top     int      `json:"top,omitempty"`
		Include []string `json:"include,omitempty"`
	}{IPs: addresses, Top: options.Top}
	if options.Privacy {
		body.Include = []string{"privacy"}
	}
	return get[AddressSummary](ctx, c, call{path: "/v1/ip/summary", body: body})
}

// Page chooses among the prefixes of an autonomous system.
type Page struct {
	// Family is 4 or 6 for only such prefixes; 0: both.
	Family int
	// Limit is up to 1,000; 0: 100.
	Limit  int
	Offset int
}

// ASN describes an autonomous system.
func (c *Client) ASN(ctx context.Context, number uint32, page Page) (*AutonomousSystem, error) {
	query := url.Values{}
	for name, value := range map[string]int{
		"family": page.Family, "limit": page.Limit, "offset": page.Offset,
	} {
		if value != 0 {
			query.Set(name, strconv.Itoa(value))
		}
	}
	path := "/v1/asn/" + strconv.FormatUint(uint64(number), 10)
	return get[AutonomousSystem](ctx, c, call{path: path, query: query})
}

// Usage returns the requests of the key's owner.
func (c *Client) Usage(ctx context.Context) (*UsageStats, error) {
	return get[UsageStats](ctx, c, call{path: "/v1/account/me/usage"})
}

// get sends the call and decodes its answer.
func get[Answer any](ctx context.Context, c *Client, call call) (*Answer, error) {
	text, err := c.send(ctx, call)
	if err != nil {
		return nil, err
	}
	var answer Answer
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, unreadable(err)
	}
	return &answer, nil
}

func notAnAddress(cause error) *Error {
	return &Error{Code: badRequest, Message: addressError, Status: 400, cause: cause}
}

func unreadable(cause error) *Error {
	return &Error{Code: UnexpectedAnswer, Message: "Cannot read the answer", Status: 200, cause: cause}
}

// parseAddress refuses zone ids, such as in fe80::1%eth0, as the service does.
func parseAddress(text string) (netip.Addr, error) {
	address, err := netip.ParseAddr(text)
	if err == nil && address.Zone() != "" {
		return netip.Addr{}, errors.New("the address has a zone id")
	}
	return address, err
}
