package meridian

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"meridian/generated"
)

// VisitorOptions say how visitors are located.
type VisitorOptions struct {
	// Header is set by your proxy and holds the visitor's address, as X-Forwarded-For does. Of several
	// addresses the last one counts, since clients can send the others. Empty: the connection's address.
	Header string
	// LookUp has options such as Include("network"), but not Fields.
	LookUp []LookUpOption
	// Timeout is how long a request waits for its location; 0: a second.
	Timeout time.Duration
	// LocatePrivate also locates private addresses, for services that know your own networks.
	LocatePrivate bool
	// OnError gets the error of a look-up that failed; it may be nil.
	OnError func(error)
}

// Visitor is what is known about whom a request comes from.
type Visitor struct {
	// Location is nil if it is unknown or could not be looked up.
	Location *Location
	// Geolocation is the whole result, for example with the network.
	Geolocation *GeolocationResult
}

type visitorKey struct{}

// VisitorOf returns what LocateVisitors has found.
func VisitorOf(ctx context.Context) Visitor {
	visitor, _ := ctx.Value(visitorKey{}).(Visitor)
	return visitor
}

// LocateVisitors returns middleware that adds a Visitor to the context of each request. A look-up that
// fails does not fail the request.
func LocateVisitors(client *Client, options VisitorOptions) func(http.Handler) http.Handler {
	if options.Timeout == 0 {
		options.Timeout = time.Second
	}
	once := *client
	once.retries = 0
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
			visitor := once.locateVisitor(request, options)
			ctx := context.WithValue(request.Context(), visitorKey{}, visitor)
			next.ServeHTTP(writer, request.WithContext(ctx))
		})
	}
}

func (c *Client) locateVisitor(request *http.Request, options VisitorOptions) Visitor {
	address, ok := visitorAddress(request, options.Header)
	if !ok || !(options.LocatePrivate || isPublic(address)) {
		return Visitor{}
	}
	ctx, cancel := context.WithTimeout(request.Context(), options.Timeout)
	defer cancel()
	result, err := c.Locate(ctx, address.String(), options.LookUp...)
	if err != nil {
		if options.OnError != nil {
			options.OnError(err)
		}
		return Visitor{}
	}
	return Visitor{Location: result.Location, Geolocation: result}
}

// visitorAddress returns false if the request shows no address.
func visitorAddress(request *http.Request, header string) (netip.Addr, bool) {
	text := request.RemoteAddr
	if values := request.Header.Values(header); header != "" && len(values) > 0 {
		last := values[len(values)-1]
		text = strings.TrimSpace(last[strings.LastIndex(last, ",")+1:])
	}
	// Some proxies write a port, too.
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	address, err := parseAddress(strings.Trim(text, "[]"))
	// A server that listens on IPv4 and IPv6 may report IPv4 addresses as IPv6.
	return address.Unmap(), err == nil
}

// special are the special-purpose networks, and whether hosts on the Internet may have their addresses.
var special = specialNetworks()

// isPublic is whether a host on the Internet may have the address. The narrowest network counts.
func isPublic(address netip.Addr) bool {
	public, bits := true, -1
	for prefix, isPublic := range special {
		if prefix.Bits() > bits && prefix.Contains(address) {
			public, bits = isPublic, prefix.Bits()
		}
	}
	return public
}

func specialNetworks() map[netip.Prefix]bool {
	networks := make(map[netip.Prefix]bool, len(generated.SpecialPurpose))
	for _, special := range generated.SpecialPurpose {
		networks[netip.MustParsePrefix(special.Network)] = special.IsPublic
	}
	return networks
}
