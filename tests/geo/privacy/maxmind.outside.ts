import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Address, formatIpv6, ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { createRandom, pick, type Random } from '../../../scripts/parts/random.ts'
import { addressOf } from '../../support/networks.ts'
import { openFile } from '../open-file.ts'

/*
 * MaxMind's own test files, from its Python client geoip2 5.3.0 (Apache-2.0), compared with mmdblookup,
 * MaxMind's tool.
 */

const FILES = ['GeoIP2-Anonymous-IP-Test.mmdb', 'GeoIP-Anonymous-Plus-Test.mmdb'] as const

/** First addresses of the networks that have records. */
const KNOWN = [
  ...['1.2.0.0', '1.2.0.1', '1.2.0.2', '1.2.0.4', '1.2.0.6', '1.2.128.0', '1.124.213.1'],
  ...['6.1.0.0', '6.1.0.2', '6.1.0.3', '6.1.0.4', '55.0.0.4', '65.0.0.0', '71.160.223.0'],
  ...['81.2.69.0', '186.30.236.0', 'abcd:1000::', '2001:480:3a::'],
]
const AROUND_EACH = 20

for (const name of FILES) {
  describe(name, () => {
    const path = fileURLToPath(new URL(`./maxmind/${name}`, import.meta.url))

    it('states what mmdblookup prints', async (t) => {
      const database = await openFile(path)
      assert.equal(database.subject, 'privacy')
      let stated = 0
      for (const address of addresses()) {
        const expected = askMmdblookup(path, address)
        const actual = database.findPrivacy(address)?.privacy ?? {}
        assert.deepEqual(actual, expected, address.text)
        if (Object.keys(expected).length > 0) stated += 1
      }
      t.diagnostic(`${addresses().length} addresses, ${stated} with data`)
      assert.ok(stated > 100, String(stated))
    })
  })
}

/** The known addresses, some near each, and some anywhere. */
function addresses(): Address[] {
  const random = createRandom(20261125)
  const near = KNOWN.flatMap((text) =>
    Array.from({ length: AROUND_EACH }, (_, at) =>
      nearTo(text, at === 0 ? 0 : random() * 2 ** pick(random, [1, 3, 7, 17])),
    ),
  )
  return [...near, ...Array.from({ length: 50 }, () => anywhere(random))]
}

function nearTo(text: string, distance: number): Address {
  const address = addressOf(text)
  if (address.version === 4) return ipv4FromBits(address.bits + distance)
  const [a, b, c, d] = address.words
  return addressOf(formatIpv6([a, b, c, (d + distance) >>> 0]))
}

function anywhere(random: Random): Address {
  const word = () => Math.floor(random() * 2 ** 32)
  if (random() < 0.5) return ipv4FromBits(word())
  const first = 0x2a00_0000 + Math.floor(random() * 2 ** 16)
  return addressOf(formatIpv6([first, word(), word(), word()]))
}

const FIELDS: Readonly<Record<string, string>> = {
  is_hosting_provider: 'hosting',
  is_anonymous_vpn: 'vpn',
  is_public_proxy: 'proxy',
  is_tor_exit_node: 'tor',
  is_residential_proxy: 'residentialProxy',
  provider_name: 'provider',
}

/** Reads the printed record, in the names of the contract. */
function askMmdblookup(path: string, { text }: Address): Record<string, boolean | string> {
  const { stdout } = spawnSync('mmdblookup', ['--file', path, '--ip', text], { encoding: 'utf8' })
  const values = stdout.matchAll(/"(\w+)":\s+(?:"([^"]*)" <utf8_string>|(true|false) <boolean>)/g)
  return Object.fromEntries(
    [...values].flatMap(([, key = '', name, flag]) => {
      const field = FIELDS[key]
      return field === undefined ? [] : [[field, name ?? flag === 'true']]
    }),
  )
}
