import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFindClient } from '../../lib/access/client-address.ts'
import { parseNetwork } from '../../lib/parts/net/network.ts'

const PROXY = '10.0.0.1'
const IPV6 = '2a00:1450:4001:81b:bcf4:5264:e01c:f215'

/** What proxies write as X-Forwarded-For, the source of the form, and the client. */
const ROWS = [
  ['Azure Application Gateway', '81.2.69.160:51234', '81.2.69.160'],
  ['AWS ALB with client ports, akka-http#3790', `${IPV6}:50718`, IPV6],
  ['the same after a forged one', `8.8.8.8, ${IPV6}:443`, IPV6],
  ['five digits after ::, firezone PR#12272', '2a00:1450::200e:50718', '2a00:1450::200e'],
  ['a port or a group: not known', '2a00:1450::200e:443', '2a00:1450::200e:443'],
  ['mapped, with a port', '::ffff:8.8.8.8:1234', '8.8.8.8'],
  ['RFC 9110 5.6.1.2: empty elements', '8.8.8.8,', '8.8.8.8'],
  ['RFC 9110 5.6.1.2: empty elements', ', ,8.8.8.8 ,\t,', '8.8.8.8'],
  ['RFC 7239 4: quoted', '"8.8.8.8"', '8.8.8.8'],
  ['RFC 7239 4: quoted with a port', '1.1.1.1, "[2a00:1450::200e]:4711"', '2a00:1450::200e'],
  ['RFC 7239 6.3: obfuscated', '8.8.8.8, _hidden', PROXY],
  ['one quote', '8.8.8.8, "1.1.1.1', PROXY],
  ['a port over 65535', `8.8.8.8, ${IPV6}:70000`, PROXY],
  ['more than a port', `8.8.8.8, ${IPV6}:1:2`, PROXY],
] as const

describe('the client by X-Forwarded-For as proxies write it', () => {
  const trustedProxies = [parseNetwork(PROXY)].filter((network) => network !== null)
  const find = createFindClient({ trustedProxies, clientHeader: 'x-forwarded-for' })
  for (const [source, header, expected] of ROWS) {
    it(`${source}: ${header}`, () => {
      assert.equal(find(PROXY, { header: () => header })?.address.text, expected)
    })
  }
})
