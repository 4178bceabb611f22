import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { recognise } from '../../lib/address-lists/form.ts'
import { LOG_FORMATS } from '../../lib/address-lists/log-formats.ts'
import { readList } from '../../lib/address-lists/read-list.ts'

/** The addresses of a log, read as that of the program. */
async function read(program: string, text: string) {
  const form = recognise(text, { ...LOG_FORMATS[program], take: 'first' })
  const found: (string | undefined)[] = []
  for await (const rows of readList([text], form)) {
    found.push(...rows.filter(({ kind }) => kind === 'row').map(({ address }) => address))
  }
  return found
}

const CLIENT = '81.2.69.160'
const IIS_LINE = (client: string) =>
  `2026-11-28 12:00:00 10.0.0.5 GET / - 443 - ${client} Mozilla/5.0+(X11) - 200 0 0 15`

describe('a log that is read as that of a program', () => {
  const logs = [
    // The default fields of IIS 10, whose first lines `tail` has cut off
    ['iis', `${IIS_LINE(CLIENT)}\n${IIS_LINE('2001:db8::1')}\n`, [CLIENT, '2001:db8::1']],
    ['iis', `#Version: 1.0\n#Fields: date c-ip s-ip\n2026-11-28 ${CLIENT} 10.0.0.5\n`, [CLIENT]],
    ['w3c', `#Fields: date s-ip c-ip\n2026-11-28 10.0.0.5 ${CLIENT}\n`, [CLIENT]],
    ['w3c', `#Fields: date\ts-ip\tc-ip\n2026-11-28\t10.0.0.5\t${CLIENT}\n`, [CLIENT]],
    ['cloudfront', `#Fields: date s-ip c-ip\n2026-11-28\t10.0.0.5\t${CLIENT}\n`, [CLIENT]],
    // Caddy from 2.7 on names the client; before, only the peer
    [
      'caddy',
      `{"level":"info","request":{"remote_ip":"10.0.0.9","client_ip":"${CLIENT}"},"upstream":"10.0.0.7:80"}\n`,
      [CLIENT],
    ],
    ['caddy', `{"upstream":"10.0.0.7","request":{"remote_ip":"${CLIENT}"}}\n`, [CLIENT]],
    ['caddy', `{"upstream":"10.0.0.7","request":{"remote_addr":"${CLIENT}:51234"}}\n`, [CLIENT]],
    [
      'nginx',
      `${CLIENT} - - [28/Nov/2026:12:00:00 +0000] "GET /?to=8.8.8.8 HTTP/1.1" 200 5\n`,
      [CLIENT],
    ],
    ['apache', `${CLIENT} - ada [28/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5\n`, [CLIENT]],
    [
      'apache',
      `a.example:443 ${CLIENT} - - [28/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1"\n`,
      [CLIENT],
    ],
  ] as const
  for (const [program, text, expected] of logs) {
    it(`${program}: ${text.slice(0, 50).trim()}`, async () =>
      assert.deepEqual(await read(program, text), expected))
  }

  it('has its lines about the log left out', async () => {
    const text = `#Software: Microsoft Internet Information Services 10.0\n${IIS_LINE(CLIENT)}\n`
    assert.deepEqual(await read('iis', text), [CLIENT])
  })

  it('is read by the column that the user names instead', () => {
    const form = recognise(`${IIS_LINE(CLIENT)}\n`, { ...LOG_FORMATS['iis'], column: 2 })
    assert.equal(form.columns[form.column ?? -1], 's-ip')
  })
})
