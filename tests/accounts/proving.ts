import assert from 'node:assert/strict'
import * as v from 'valibot'
import { SiteProof } from '../../lib/contract/account/site-proof.ts'
import { RumOverview } from '../../lib/contract/telemetry/telemetry-overview.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { createFindTxt } from '../../lib/parts/net/txt-records.ts'
import { openSiteProofs } from '../../lib/services/sites/site-proofs.ts'
import { readValue } from '../support/database/sql.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { makeApp, NOON, type TestApp } from '../support/helpers.ts'

export const SITES = '/v1/account/me/sites'
export const SHOP = 'https://shop.example'
export const HOST = 'shop.example'

/** The service with a DNS server, in which tests prove sites. */
export async function startProving() {
  let now = NOON
  const dns = await startDnsServer()
  const app = await makeApp({
    now: () => now,
    replace: (services) => ({ siteProofs: openSiteProofs(services, createFindTxt([dns.address])) }),
  })
  const pass = (ms: number) => {
    now += ms
  }
  return {
    app,
    dns,
    now: () => now,
    pass,
    /** Adds a site for the user, with a new key. Creates the user if missing. */
    register: (user: string, origin = SHOP) => register(app, user, origin),
    prove: async (owner: Registered, others: readonly string[] = []) => {
      dns.zone.set(HOST, [...others, owner.record])
      assert.equal(v.parse(SiteProof, (await owner.check()).body).state, 'proven')
    },
    sendBeacon: async (origin = SHOP, status = 204) => {
      const options = { headers: { origin }, body: { metrics: { lcp: 1_200 } } }
      assert.equal((await app.send('POST', '/v1/telemetry/rum', options)).status, status)
    },
    storedBeacons: (): Promise<unknown> => {
      const counts = "SELECT sum(count) FROM rum_counts WHERE label = 'accepted'"
      return readValue(app, counts)
    },
    /** Checks the proofs once a day, for `days` days. */
    passDays: async (days: number) => {
      for (let day = 0; day < days; day++) {
        pass(DAY_MS)
        await app.services.siteProofs.checkDue()
      }
    },
    [Symbol.asyncDispose]: async () => {
      await app.close()
      await dns[Symbol.asyncDispose]()
    },
  }
}

type Registered = Awaited<ReturnType<typeof register>>

async function register(app: TestApp, user: string, origin: string) {
  const person = app.user(user)
  const key = await person.key()
  const { id } = await person.site(origin)
  const path = `${SITES}/${id}/proof`
  return {
    id,
    key,
    /** The TXT record that proves the site. */
    record: `meridian-site=${id}`,
    check: () => app.send('POST', path, { key }),
    proof: async () => v.parse(SiteProof, (await app.send('GET', path, { key })).body),
    remove: () => app.send('DELETE', `${SITES}/${id}`, { key }),
    beacons: async () => {
      const overview = await app.send('GET', `/v1/telemetry/rum/overview?domain=${HOST}`, { key })
      return v.parse(RumOverview, overview.body).beacons.accepted
    },
    actions: async () =>
      (await person.audit()).map(({ action, detail }) => `${action} ${detail}`).reverse(),
  }
}
