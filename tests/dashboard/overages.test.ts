import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditOf, openShop, type Shop } from '../billing/shop.ts'
import { readRows, write } from '../support/database/sql.ts'
import { freshly } from '../support/scene/freshly.ts'
import type { PageOptions } from '../support/scene/pages.ts'

const PAGE = '/app/billing/overages'
const SPENDING_CAPS = 'SELECT count(*) FROM spending_caps'

/** Signs in a new user who subscribes to a plan. */
async function openSubscriber(shop: Shop, plan: string) {
  const grace = shop.app.user('grace')
  await grace.enter()
  const visit = (path: string, form?: PageOptions['form']) =>
    form === undefined ? grace.visit(path) : grace.submit(path, form)
  await shop.app.services.overages.refreshPrice()
  await visit('/app/billing/checkout', { plan })
  const [session] = [...shop.double.world.state.tables.sessions.values()].slice(-1)
  shop.double.payCheckout(session?.id ?? '', { card: 'pm_card_visa' })
  await shop.settled()
  const follow = async (path: string, form: PageOptions['form']) => {
    const { location, html } = await visit(path, form)
    assert.ok(location, html)
    return (await visit(location)).html
  }
  return { visit, follow }
}

/** The hidden field that holds what was shown. */
function termsIn(html: string): string {
  return /name="terms" value="([^"]+)"/.exec(html)?.[1] ?? assert.fail('no terms')
}

describe('the pages about overages', () => {
  const shop = freshly(openShop)

  it('are not offered if the currency of the subscription has no price', async () => {
    const { visit } = await openSubscriber(shop, 'pro')
    await write(shop.app, "UPDATE overage_prices SET currency = 'eur'")
    assert.doesNotMatch((await visit('/app/billing')).html, new RegExp(`href="${PAGE}"`))
    assert.match((await visit(PAGE)).html, /Overages have no price in usd/)
  })

  it('show price, cap and an example before they ask for consent, with an unticked box', async () => {
    const { visit } = await openSubscriber(shop, 'pro')
    const { html: first } = await visit('/app/billing')
    assert.match(first, new RegExp(`href="${PAGE}"`))
    assert.doesNotMatch(first, new RegExp(`action="${PAGE}"`))
    const { html } = await visit(PAGE)
    assert.match(html, /\$0\.001 per request/)
    assert.match(html, /\$87\.00 per period/)
    assert.match(html, /10,000 requests cost \$10\.00/)
    const box = /<input[^>]*type="checkbox"[^>]*>/.exec(html)?.[0] ?? ''
    assert.match(box, /required/)
    assert.doesNotMatch(box, /checked/)
  })

  it('turn overages on only if the box is ticked and the terms are those that were shown', async () => {
    const { visit, follow } = await openSubscriber(shop, 'pro')
    const terms = termsIn((await visit(PAGE)).html)
    const unticked = await visit(PAGE, { terms })
    assert.equal(unticked.status, 400)
    assert.match(unticked.html, /Tick the box/)
    await follow(`${PAGE}/cap`, { amount: '50' })
    const outdated = await visit(PAGE, { terms, overages: 'on' })
    assert.equal(outdated.status, 400)
    assert.match(outdated.html, /has changed/)
    const now = termsIn(outdated.html)
    assert.match(await follow(PAGE, { terms: now, overages: 'on' }), /0 of them are charged/)
    const { html } = await visit(PAGE)
    assert.doesNotMatch(html, /type="checkbox"/)
    assert.match(html, /Stop overages/)
    assert.match(await follow(PAGE, { overages: 'off' }), /Allow overages for a fee/)
  })

  it('change nothing if the session ends between two operations of a form', async () => {
    const { visit } = await openSubscriber(shop, 'pro')
    const { services } = shop.app
    const { findSession } = services
    let verified = 0
    // First for the page, then for what the form reads. What it changes must be verified once more.
    const endAfterTwo: typeof findSession = async (...given) => {
      const user = await findSession(...given)
      verified += 1
      if (verified === 2) await write(shop.app, 'DELETE FROM sessions')
      return user
    }
    Object.assign(services, { findSession: endAfterTwo })
    const { status, location } = await visit(`${PAGE}/cap`, { amount: '50' })
    assert.deepEqual([status, location], [303, '/app/sign-in'])
    assert.deepEqual(await readRows(shop.app, SPENDING_CAPS), [[0]])
  })

  it('change the spending cap, and refuse what is not an amount or is too large', async () => {
    const { visit, follow } = await openSubscriber(shop, 'pro')
    assert.match(await follow(`${PAGE}/cap`, { amount: '12.50' }), /\$12\.50 per period/)
    for (const amount of ['', 'much', '1.234', '-5', '2900.01']) {
      const { status, html } = await visit(`${PAGE}/cap`, { amount })
      assert.equal(status, 400, amount)
      assert.match(html, /id="amount-problem" role="alert">(Enter an amount|Must be at most \$)/)
      assert.match(html, /\$12\.50 per period/)
    }
  })

  it('show usage and money to date, on the overview too', async () => {
    const { visit, follow } = await openSubscriber(shop, 'pro')
    const terms = termsIn((await visit(PAGE)).html)
    await follow(PAGE, { terms, overages: 'on' })
    assert.match((await visit('/app')).html, /\$0\.00 of at most \$87\.00/)
    assert.match((await visit('/app/billing')).html, /\$0\.00 so far, at most \$87\.00/)
  })

  it('do not offer overages on plans that have none', async () => {
    const { visit } = await openSubscriber(shop, 'starter')
    assert.doesNotMatch((await visit('/app/billing')).html, /verages/)
    const { status, html } = await visit(PAGE)
    assert.equal(status, 403)
    assert.match(html, /has no overages/)
    assert.equal((await visit(PAGE, { overages: 'on' })).status, 403)
    assert.ok(!(await auditOf(shop)).some(({ action }) => action === 'set_overages'))
  })
})
