package meridian

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

const batchSize = 1_000

// Item is the result for one address of a list, or why there is none. The other is nil.
type Item struct {
	Result *GeolocationResult
	Err    *Error
}

// LocateMany locates any number of addresses, in batches. The items are in the order of the addresses.
// Each different address is located once; its items share the result. If a batch fails, so does the
// call.
func (c *Client) LocateMany(
	ctx context.Context, addresses []string, options ...LookUpOption,
) ([]Item, error) {
	asked := toAsked(options)
	items, open := c.knownItems(addresses, asked)
	batches := slices.Collect(slices.Chunk(open, batchSize))
	located, err := c.locateBatches(ctx, batches, asked)
	if err != nil {
		return nil, err
	}
	for at, item := range slices.Concat(located...) {
		items[open[at]] = item
	}
	inOrder := make([]Item, len(addresses))
	for at, text := range addresses {
		inOrder[at] = items[text]
	}
	return inOrder, nil
}

// knownItems returns the items that are known by address, and the addresses for the service to locate.
func (c *Client) knownItems(addresses []string, asked lookUp) (map[string]Item, []string) {
	items := make(map[string]Item, len(addresses))
	var open []string
	for _, text := range addresses {
		if _, seen := items[text]; seen {
			continue
		}
		address, err := parseAddress(text)
		if err != nil {
			items[text] = Item{Err: notAnAddress(err)}
			continue
		}
		known := c.known.find(address, asked)
		items[text] = Item{Result: known}
		if known == nil {
			open = append(open, text)
		}
	}
	return items, open
}

// locateBatches returns the items of each batch, or the first error: then the other batches stop.
func (c *Client) locateBatches(
	ctx context.Context, batches [][]string, asked lookUp,
) ([][]Item, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	items := make([][]Item, len(batches))
	slots := make(chan struct{}, c.concurrency)
	var group sync.WaitGroup
	for at, batch := range batches {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			located, err := c.locateBatch(ctx, batch, asked)
			if err != nil {
				cancel(err)
			}
			items[at] = located
		})
	}
	group.Wait()
	return items, context.Cause(ctx)
}

func (c *Client) locateBatch(ctx context.Context, batch []string, asked lookUp) ([]Item, error) {
	body := struct {
		IPs []string `json:"ips"`
		lookUp
	}{batch, c.known.toAsk(asked)}
	text, err := c.send(ctx, call{path: "/v1/ip/batch", body: body})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Results []json.RawMessage `json:"results"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, unreadable(err)
	}
	if len(answer.Results) != len(batch) {
		return nil, unreadable(fmt.Errorf("%d results for %d addresses", len(answer.Results), len(batch)))
	}
	items := make([]Item, len(batch))
	for at, result := range answer.Results {
		if items[at], err = c.toItem(batch[at], asked, result); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// toItem reads one result of a batch, and keeps it.
func (c *Client) toItem(text string, asked lookUp, answer json.RawMessage) (Item, error) {
	if detail := errorIn(answer); detail != nil {
		return Item{Err: &Error{Code: detail.Code, Message: detail.Message, Status: 400}}, nil
	}
	if address, err := parseAddress(text); err == nil {
		c.known.keep(address, asked, answer)
	}
	result, err := present(answer, asked)
	return Item{Result: result}, err
}
