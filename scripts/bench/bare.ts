import { Hono } from 'hono'
import { serveFetch } from './serve-fetch.ts'

/** The least that a JSON answer costs on this runtime and its server. */
const app = new Hono().get('/v1/ip/:ip', (context) => context.json({ ip: context.req.param('ip') }))

await serveFetch(app.fetch)
