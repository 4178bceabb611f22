import type Stripe from 'stripe'
import * as v from 'valibot'
import { listPage } from '../http/list.ts'
import { Metadata, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { newId, newSigningSecret } from '../ids.ts'
import { addRow, getRow, type World } from '../world.ts'
import { mergeMetadata } from './metadata.ts'

const CreateParams = v.strictObject({
  url: Text,
  enabled_events: v.array(Text),
  api_version: v.optional(Text),
  description: v.optional(Text),
  metadata: v.optional(Metadata),
})

export const webhookEndpointRoutes: readonly Route[] = [
  route('POST /v1/webhook_endpoints', CreateParams, ({ world, params }) => {
    const secret = newSigningSecret()
    return { ...addEndpoint(world, params, [secret]), secret }
  }),
  route('GET /v1/webhook_endpoints', v.strictObject(Page), ({ world, params }) =>
    listPage('/v1/webhook_endpoints', world.state.tables.webhookEndpoints.values(), params),
  ),
  route('GET /v1/webhook_endpoints/:id', Nothing, ({ world, id }) =>
    getRow(world.state.tables.webhookEndpoints, id, 'webhook endpoint'),
  ),
  route('DELETE /v1/webhook_endpoints/:id', Nothing, ({ world, id }) => {
    getRow(world.state.tables.webhookEndpoints, id, 'webhook endpoint')
    world.state.tables.webhookEndpoints.delete(id)
    return { id, object: 'webhook_endpoint', deleted: true } satisfies Stripe.DeletedWebhookEndpoint
  }),
]

/** The secret is told once, when the endpoint is made: as Stripe does. */
export function addEndpoint(
  world: World,
  params: v.InferOutput<typeof CreateParams>,
  secrets: readonly string[],
): Stripe.WebhookEndpoint {
  const endpoint: Stripe.WebhookEndpoint = {
    id: newId('we'),
    object: 'webhook_endpoint',
    api_version: params.api_version ?? null,
    application: null,
    created: world.now(),
    description: params.description ?? null,
    enabled_events: params.enabled_events,
    livemode: false,
    metadata: mergeMetadata({}, params.metadata),
    status: 'enabled',
    url: params.url,
  }
  world.state.signingSecrets.set(endpoint.id, secrets)
  return addRow(world, world.state.tables.webhookEndpoints, endpoint)
}
