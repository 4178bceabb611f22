package meridian_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"meridian"
)

func TestLocateReturnsTheWholeResult(t *testing.T) {
	result, err := newClient(t).Locate(t.Context(), london)
	if err != nil {
		t.Fatal(err)
	}
	if *result.Location.City != "London" || result.Location.Country.Code != "GB" {
		t.Errorf("got %+v", result.Location)
	}
	if result.Location.Coordinates.Latitude != 51.5142 {
		t.Errorf("the latitude is %v", result.Location.Coordinates.Latitude)
	}
	if result.Network != nil && result.Network.Prefix != nil {
		t.Error("the prefix shows")
	}
}

func TestLocateTakesOptions(t *testing.T) {
	client := newClient(t)
	result, err := client.Locate(
		t.Context(), london, meridian.Fields("location.country.name"), meridian.Lang("de"),
	)
	if err != nil || result.Location.Country.Name != "Vereinigtes Königreich" || result.Query != nil {
		t.Errorf("got %+v, %v", result, err)
	}
	result, err = client.Locate(t.Context(), london, meridian.Include("network"))
	if err != nil || !strings.HasPrefix(*result.Network.Prefix, "81.2.69.") {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestLocateReturnsNoLocationIfNobodyKnows(t *testing.T) {
	result, err := newClient(t).Locate(t.Context(), unknown)
	if err != nil || result.Location != nil || *result.Meta.Precision != "none" {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestMeLocatesTheCaller(t *testing.T) {
	result, err := newClient(t).Me(t.Context())
	if err != nil || result.Query.Value != "127.0.0.1" {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestSummaryCountsByPlace(t *testing.T) {
	addresses := []string{london, neighbour, unknown, "nowhere"}
	options := meridian.SummaryOptions{Top: 1, Privacy: true}
	summary, err := newClient(t).Summary(t.Context(), addresses, options)
	if err != nil {
		t.Fatal(err)
	}
	if summary.Addresses.Total != 4 || summary.Addresses.Invalid != 1 || summary.Privacy == nil {
		t.Errorf("got %+v", summary)
	}
	if len(summary.Countries) != 1 || summary.Countries[0].Code != "GB" || summary.Countries[0].Count != 2 {
		t.Errorf("got %+v", summary.Countries)
	}
}

func TestASNDescribesASystem(t *testing.T) {
	system, err := newClient(t).ASN(t.Context(), 20712, meridian.Page{Family: 4, Limit: 1})
	if err != nil || system.Asn != "AS20712" || len(system.Prefixes) != 1 || system.Limit != 1 {
		t.Errorf("got %+v, %v", system, err)
	}
}

// counted returns the look-ups that the service has counted.
func counted(t *testing.T, client *meridian.Client) int {
	t.Helper()
	usage, err := client.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return usage.TotalRequests
}

func TestNeighboursCostOneCall(t *testing.T) {
	client := newClient(t)
	before := counted(t, client)
	for _, address := range []string{london, neighbour, "::ffff:81.2.69.1", "::ffff:81.2.69.2"} {
		result, err := client.Locate(t.Context(), address)
		if err != nil || result.Query.Value != address || *result.Location.City != "London" {
			t.Errorf("%s: got %+v, %v", address, result, err)
		}
	}
	if _, err := client.LocateMany(t.Context(), []string{"81.2.69.3", "81.2.69.4"}); err != nil {
		t.Error(err)
	}
	// One for IPv4, one for IPv4 in IPv6.
	if got := counted(t, client) - before; got != 2 {
		t.Errorf("the service counted %d", got)
	}
}

func TestNeighboursCostACallEachWithoutACache(t *testing.T) {
	client := newClient(t, meridian.WithCache(0, 0))
	before := counted(t, client)
	for _, address := range []string{london, neighbour} {
		if _, err := client.Locate(t.Context(), address); err != nil {
			t.Error(err)
		}
	}
	if got := counted(t, client) - before; got != 2 {
		t.Errorf("the service counted %d", got)
	}
}

func TestAKnownAnswerEqualsThatOfTheService(t *testing.T) {
	client, uncached := newClient(t), newClient(t, meridian.WithCache(0, 0))
	for _, fields := range [][]string{
		nil, {"location.city"}, {"network"}, {"network.prefix"}, {"network.asn", "query.value"},
	} {
		for _, include := range [][]string{nil, {"network"}, {"privacy"}, {"network", "privacy"}} {
			options := []meridian.LookUpOption{meridian.Fields(fields...), meridian.Include(include...)}
			for neighbour, address := range map[string]string{
				"81.2.69.1": london, "8.8.8.1": "8.8.8.8", "2a00:1450:4009::1": "2a00:1450:4009::5",
			} {
				if _, err := client.Locate(t.Context(), neighbour, options...); err != nil {
					t.Fatal(err)
				}
				known, err := client.Locate(t.Context(), address, options...)
				asked, otherErr := uncached.Locate(t.Context(), address, options...)
				if err != nil || otherErr != nil {
					t.Fatal(err, otherErr)
				}
				known.Meta, asked.Meta = nil, nil
				if !reflect.DeepEqual(known, asked) {
					t.Errorf("%s with %v and %v: %+v is not %+v", address, fields, include, known, asked)
				}
			}
		}
	}
}

func TestKnownAnswersExpireAndMakeRoom(t *testing.T) {
	client := newClient(t, meridian.WithCache(1, time.Hour))
	before := counted(t, client)
	for _, address := range []string{london, "8.8.8.8", neighbour} {
		if _, err := client.Locate(t.Context(), address); err != nil {
			t.Error(err)
		}
	}
	client = newClient(t, meridian.WithCache(10, time.Nanosecond))
	for _, address := range []string{london, neighbour} {
		if _, err := client.Locate(t.Context(), address); err != nil {
			t.Error(err)
		}
	}
	if got := counted(t, client) - before; got != 5 {
		t.Errorf("the service counted %d", got)
	}
}

func TestListsOfAnyLengthKeepTheirOrder(t *testing.T) {
	var addresses []string
	for n := range 2_500 {
		addresses = append(addresses, fmt.Sprintf("81.2.%d.%d", n/250, n%250))
	}
	addresses = slices.Insert(addresses, 7, "nowhere")
	addresses = slices.Insert(addresses, 1_200, "", strings.Repeat("x", 70_000), "fe80::1%eth0")
	addresses = append(addresses, addresses[0])
	items, err := newClient(t).LocateMany(t.Context(), addresses)
	if err != nil || len(items) != len(addresses) {
		t.Fatal(len(items), err)
	}
	for at, item := range items {
		switch at {
		case 7, 1_200, 1_201, 1_202:
			if item.Result != nil || item.Err.Code != "BAD_REQUEST" {
				t.Errorf("item %d is %+v", at, item)
			}
		default:
			if item.Err != nil || item.Result.Query.Value != addresses[at] {
				t.Errorf("item %d is %+v", at, item)
			}
		}
	}
}

func TestAnEmptyListNeedsNoCall(t *testing.T) {
	items, err := clientOf(t, "http://127.0.0.1:1", "key").LocateMany(t.Context(), nil)
	if err != nil || len(items) != 0 {
		t.Error(items, err)
	}
}

func TestErrorsOfTheService(t *testing.T) {
	url, key := os.Getenv("MERIDIAN_URL"), os.Getenv("MERIDIAN_KEY")
	client := clientOf(t, url, key)
	_, badField := client.Locate(t.Context(), london, meridian.Fields("nothing"))
	_, badKey := clientOf(t, url, "wrong").Me(t.Context())
	_, badScope := clientOf(t, url, os.Getenv("MERIDIAN_GEO_KEY")).Usage(t.Context())
	_, badSystem := client.ASN(t.Context(), 64496, meridian.Page{})
	_, badURL := clientOf(t, url+"/elsewhere", key).Locate(t.Context(), london)
	_, badBatch := clientOf(t, url, "wrong").LocateMany(t.Context(), []string{london})
	for _, test := range []struct {
		err    error
		status int
		code   string
	}{
		{badField, 400, "BAD_REQUEST"},
		{badKey, 401, "UNAUTHORIZED"},
		{badScope, 403, "INSUFFICIENT_SCOPE"},
		{badSystem, 404, "NOT_FOUND"},
		{badURL, 404, "NOT_FOUND"},
		{badBatch, 401, "UNAUTHORIZED"},
	} {
		var failure *meridian.Error
		if !errors.As(test.err, &failure) {
			t.Errorf("%s: got %v", test.code, test.err)
			continue
		}
		if failure.Status != test.status || failure.Code != test.code || len(failure.RequestID) != 36 {
			t.Errorf("got %+v", failure)
		}
		if !strings.Contains(failure.Error(), failure.RequestID) {
			t.Errorf("got %s", failure)
		}
	}
}

func Test429SaysWhenToComeBack(t *testing.T) {
	url, key := os.Getenv("MERIDIAN_URL"), os.Getenv("MERIDIAN_FREE_KEY")
	client := clientOf(t, url, key, meridian.WithRetries(0, 0), meridian.WithCache(0, 0))
	var err error
	for range 11 {
		if err == nil {
			_, err = client.Locate(t.Context(), london)
		}
	}
	var failure *meridian.Error
	if !errors.As(err, &failure) || failure.Status != 429 || failure.RetryAfter < time.Second {
		t.Errorf("got %+v", err)
	}
}
