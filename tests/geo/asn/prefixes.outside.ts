import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import { findBundled } from '../../../lib/geo/files/bundled.ts'
import { compileAsn } from '../../../lib/geo/files/compile-asn.ts'
import { addressOf } from '../../support/networks.ts'
import { openBytes } from '../open-file.ts'
import { systemsOf, texts } from './open-systems.ts'

const SCRIPT = fileURLToPath(new URL('./prefixes.py', import.meta.url))
const SYSTEMS = 200

const Family = v.object({
  prefixes: v.array(v.string()),
  addresses: v.string(),
  ends: v.array(v.string()),
})
const Expected = v.array(v.object({ asn: v.number(), ipv4: Family, ipv6: Family }))

describe('the prefixes of autonomous systems in the bundled data', () => {
  const csvs = findBundled().asn.map(({ path }) => path)
  let expected: v.InferOutput<typeof Expected>
  let database: GeoDatabase

  before(async () => {
    const bytes = compileAsn(csvs, 0, () => {})
    database = await openBytes(bytes)
    const printed = execFileSync('python3', [SCRIPT, ...csvs], { maxBuffer: 2 ** 28 })
    expected = v.parse(Expected, JSON.parse(printed.toString()))
    assert.equal(expected.length, SYSTEMS)
  })

  it("are those of Python's ipaddress module, with the same numbers of addresses", async () => {
    const { find } = systemsOf([database])
    for (const { asn, ipv4, ipv6 } of expected) {
      const system = await find(asn)
      assert.ok(system !== null || ipv4.prefixes.length + ipv6.prefixes.length === 0, `AS${asn}`)
      if (system === null) continue
      assert.deepEqual(texts(system.ipv4), ipv4.prefixes, `AS${asn}`)
      assert.deepEqual(texts(system.ipv6), ipv6.prefixes, `AS${asn}`)
      const { summary } = system
      const sizes = [Number(ipv4.addresses), ipv6.addresses].map((addresses, at) => ({
        prefixes: [ipv4, ipv6][at]?.prefixes.length,
        addresses,
      }))
      assert.deepEqual([summary.ipv4, summary.ipv6], sizes, `AS${asn}`)
    }
  })

  it('have first and last addresses that are looked up in the system', (t) => {
    let looked = 0
    for (const { asn, ipv4, ipv6 } of expected) {
      for (const text of [...ipv4.ends, ...ipv6.ends]) {
        assert.equal(database.find(addressOf(text)).network?.asn, `AS${asn}`, text)
        looked += 1
      }
    }
    t.diagnostic(`${looked} addresses`)
    assert.ok(looked > 10_000)
  })
})
