import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { updatePlan } from '../../../lib/accounts/users.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { freshClient } from '../../support/scene/send.ts'

const SHOP = 'https://shop.example'

const app = sharedScene({}, async () => {
  await updatePlan(app.services.db, (await ada.row()).id, 'pro').run()
  await ada.submit('/app/sites', { name: SHOP })
})
const ada = app.user('ada')

async function send(times: number, body: object): Promise<void> {
  const headers = { origin: SHOP, 'user-agent': 'Mozilla/5.0' }
  for (let n = 0; n < times; n++) {
    const from = freshClient()
    const { status } = await app.send('POST', '/v1/telemetry/rum', { headers, body, from })
    assert.equal(status, 204)
  }
}

/** What is read in the page, without markup. */
async function textOf(query: string): Promise<string> {
  const { html } = await ada.visit(`/app/vitals?${query}`)
  return html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

describe('the web vitals page', () => {
  it('says which elements slow views have in common, and where interactions lose time', async () => {
    const slow = { lcp: 4_200, inp: 600, cls: 0 }
    const attribution = { lcp: 'img.hero', inp: '#buy', inpPhase: 'processing', cls: 'div.ad' }
    await send(225, { metrics: slow, attribution })
    const other = { ...attribution, lcp: 'h1<b>', inpPhase: 'input-delay' }
    await send(75, { metrics: slow, attribution: other })
    await send(10, { metrics: { lcp: 900 }, attribution: { lcp: 'img.hero' } })
    const text = await textOf('device=all')
    assert.match(text, / LCP 4\.2 s Poor img\.hero in 75% INP 600 ms Poor #buy in 100% /)
    assert.match(text, / img\.hero 225 h1&lt;b&gt; 75 /)
    assert.match(
      text,
      /In 75% of slow interactions, the longest part is its handlers \(processing\)\./,
    )
    assert.doesNotMatch(text, /div\.ad/, 'no view shifted too much')
    assert.doesNotMatch(await textOf('device=mobile'), /img\.hero/)
    assert.doesNotMatch(await textOf('device=all&country=GB'), /img\.hero|Element of slow/)
  })

  it('says nothing about elements if most slow views name none', async () => {
    await send(301, { metrics: { lcp: 5_000 } })
    const text = await textOf('device=all')
    assert.match(text, / LCP 5\.0 s Poor – INP /)
  })
})
