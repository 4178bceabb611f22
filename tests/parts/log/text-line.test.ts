import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { chooseStyle, toText } from '../../../lib/parts/log/text-line.ts'
import { NOON } from '../../support/helpers.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'

const REQUEST = {
  level: 30,
  time: NOON,
  requestId: '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01',
  method: 'GET',
  route: '/v1/ip/{ipAddress}',
  status: 200,
  ms: 0.123,
  client: '203.0.113.0/24',
  msg: 'request',
}

function text(line: object): string {
  return toText(`${JSON.stringify(line)}\n`, 'text')
}

describe('chooseStyle', () => {
  it('writes JSON unless people read it, and colours unless they refuse them', () => {
    assert.equal(chooseStyle(false, {}), 'json')
    assert.equal(chooseStyle(true, { TERM: 'xterm' }), 'colored-text')
    assert.equal(chooseStyle(true, { NO_COLOR: '' }), 'colored-text')
    assert.equal(chooseStyle(true, { NO_COLOR: '1' }), 'text')
    assert.equal(chooseStyle(true, { TERM: 'dumb' }), 'text')
  })
})

describe('toText', () => {
  it('writes a request as one readable line', () => {
    const rest = 'GET /v1/ip/{ipAddress} 200 0.123 ms  client=203.0.113.0/24\n'
    assert.match(text(REQUEST).replace(rest, ''), /^\d\d:\d\d:\d\d INFO {2}$/)
  })

  it('shows the beginning of an unknown path, and the id of a request that failed', () => {
    const { route, ...unknown } = REQUEST
    assert.match(text({ ...unknown, path: '/wp-admin', status: 404 }), /GET \/wp-admin 404 /)
    assert.match(text({ ...REQUEST, status: 500 }), / 500 .*requestId=6f6b1d3e-/)
  })

  it('writes an event with its fields, and the stack of an error below', () => {
    const err = { type: 'Error', message: 'boom', stack: 'Error: boom\n    at x.ts:1' }
    const line = { level: 50, time: NOON, path: '/data/City.mmdb', err, msg: 'database refused' }
    assert.match(
      text(line),
      /^\S+ ERROR database refused {2}path=\/data\/City\.mmdb\n {4}Error: boom\n {4}at x\.ts:1\n$/,
    )
  })

  it('colours the level and the status only in that style', () => {
    const colored = toText(JSON.stringify({ ...REQUEST, status: 404 }), 'colored-text')
    assert.ok(colored.includes('\x1b[36mINFO \x1b[0m') && colored.includes('\x1b[33m404\x1b[0m'))
    assert.ok(!text(REQUEST).includes('\x1b'))
  })

  it('passes no control character on to the terminal', () => {
    const anyText = fc.string({ unit: anyCharacter })
    fc.assert(
      fc.property(anyText, anyText, (path, msg) => {
        const lines = [text({ ...REQUEST, route: undefined, path }), text({ level: 40, msg, path })]
        for (const line of lines) assert.match(line, /^[^\p{Cc}]*\n$/u)
      }),
    )
  })
})
