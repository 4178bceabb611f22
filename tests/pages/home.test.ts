import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SAMPLES } from '../../pages/home.tsx'
import { makeApp } from '../support/helpers.ts'
import { visitPage } from '../support/scene/pages.ts'
import { sharedScene } from '../support/scene/scene.ts'

const app = sharedScene()
const load = (path: string) => visitPage(app, path)

describe('the first page', () => {
  it('shows a sample with a map to a visitor whose address no database knows', async () => {
    const { html } = await visitPage(app, '/', { from: '127.0.0.1' })
    assert.match(html, /For example.*81\.2\.69\.160.*London/s)
    assert.match(html, /You reach this server from 127\.0\.0\.1, which no database knows/)
    assert.match(html, /<svg[^>]* role="img" aria-label="Map of London, City of London/)
  })

  it('links to samples that work without a script', async () => {
    const { html } = await load('/')
    const links = [...html.matchAll(/href="(\/\?ip=[^"]*)"/g)].map(([, link]) => link ?? '')
    assert.equal(links.length, SAMPLES.length)
    for (const link of links) assert.equal((await load(link)).status, 200)
    assert.match((await load(links[0] ?? '')).html, /Looked up.*London.*role="img"/s)
  })

  it('shows limits and no prices where no plan is sold', async () => {
    const { html } = await load('/')
    assert.match(html, /<h2 id="plans">Plans<.*<ul class="tiles">.*>Pro<.*>100,000</s)
    assert.doesNotMatch(html, /\$\d|>Price</)
  })

  it('calls the databases and their providers by their names', async () => {
    const { html } = await load('/')
    const [, list = ''] = html.split('<ul class="databases">')
    assert.match(
      list,
      /^<li><span>City<\/span><span>MaxMind, built <time.*<span>DB-IP, built <time/,
    )
  })

  it('leads from its header to the dashboard, which those who are signed in see at once', async () => {
    const { html } = await load('/')
    const [, path = ''] = /<header.*<a href="([^"]*)">Sign in<\/a><\/nav>/.exec(html) ?? []
    const guest = await load(path)
    assert.deepEqual([guest.status, guest.location], [303, '/app/sign-in'])
    const { status, html: overview } = await app.user('ada').visit(path)
    assert.equal(status, 200)
    assert.match(overview, /<h1>Overview/)
  })

  it('leads to an account and a key', async () => {
    const { html } = await load('/')
    assert.match(html, /href="\/app\/sign-up">Sign up</)
    assert.match(html, /href="\/app\/sign-in">Sign in</)
    assert.match(html, /<form method="post" action="\/app\/keys">/)
    await using closed = await makeApp({ env: { MERIDIAN_SIGN_UP: 'closed' } })
    assert.doesNotMatch((await visitPage(closed, '/')).html, /sign-up/)
  })
})
