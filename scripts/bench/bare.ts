import { serve } from '@hono/node-server'
import { Hono } from 'hono'

/** The least that a JSON answer costs on this runtime and server. */
const app = new Hono().get('/v1/ip/:ip', (context) => context.json({ ip: context.req.param('ip') }))

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
