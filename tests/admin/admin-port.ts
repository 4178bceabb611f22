import { after } from 'node:test'
import { startAdmin } from '../../admin/server.ts'
import type { Services } from '../../lib/services/services.ts'
import { readPrometheusText } from '../parts/metrics/prometheus-text.ts'
import { standInFor } from '../support/scene/freshly.ts'
import { sharedScene } from '../support/scene/scene.ts'

/** The admin port of a service, open until it is disposed of. */
export async function openAdmin(services: Services) {
  const { url, close } = await startAdmin({ port: 0, host: '127.0.0.1' }, services)
  const ask = (path: string, init?: RequestInit) => fetch(`${url}${path}`, init)
  const scrape = async () => readPrometheusText(await (await ask('/metrics')).text())
  return { url, ask, scrape, [Symbol.dispose]: close }
}

/** A service and its admin port for all tests of the file. */
export function sharedAdmin(setUp: () => Promise<void>) {
  let opened: Awaited<ReturnType<typeof openAdmin>> | undefined
  after(() => opened?.[Symbol.dispose]())
  const app = sharedScene({}, async () => {
    opened = await openAdmin(app.services)
    await setUp()
  })
  return { app, admin: standInFor(() => opened) }
}
