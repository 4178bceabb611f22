import assert from 'node:assert/strict'
import { updatePlan } from '../../../lib/accounts/users.ts'
import { freshScene } from '../../support/scene/scene.ts'

export const SHOP = 'https://shop.example'

/** For each test a service whose user Ada has a shop that is measured. */
export function shopScene() {
  const app = freshScene({}, async () => {
    await updatePlan(app.services.db, (await ada.row()).id, 'pro').run()
    await ada.submit('/app/sites', { name: SHOP })
  })
  const ada = app.user('ada')
  const send = async (body: object): Promise<void> => {
    const headers = { origin: SHOP, 'user-agent': 'Mozilla/5.0' }
    assert.equal((await app.send('POST', '/v1/telemetry/rum', { headers, body })).status, 204)
  }
  return {
    app,
    ada,
    /** The page of web vitals, as HTML. */
    page: async (query = '') => (await ada.visit(`/app/vitals${query}`)).html,
    send,
    sendAll: async (times: number, body: object): Promise<void> => {
      await Promise.all(Array.from({ length: times }, () => send(body)))
    },
  }
}

/** What is read in a piece of HTML. */
export function textOf(html: string): string {
  return html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

/** The page from one heading to the end of its section. */
export function section(html: string, id: string): string {
  const from = html.indexOf(`id="${id}"`)
  assert.notEqual(from, -1, `There is no ${id}`)
  return html.slice(from, html.indexOf('</section></', from) + 1 || undefined)
}
