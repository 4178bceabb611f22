import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { recordingLog } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

const log = recordingLog()
let key: string
const app = sharedScene({ log }, async () => {
  key = await ada.key()
})
const ada = app.user('ada')
beforeEach(() => {
  log.requests.length = 0
})

describe('Server-Timing', () => {
  const timing = async (method: string, path: string, withKey: boolean) => {
    const { headers } = await app.send(method, path, withKey ? { key } : {})
    return headers.get('server-timing')
  }

  it('is sent to authenticated callers, even if their request is refused', async () => {
    for (const path of ['/v1/account/me', '/v1/account/me/audit?limit=x']) {
      assert.match((await timing('GET', path, true)) ?? '', /^total;dur=\d+\.\d$/, path)
    }
  })

  it('is sent neither to unauthenticated callers nor with look-ups', async () => {
    for (const path of ['/v1', '/health', '/v1/account/me', '/v1/ip/me', '/v1/nowhere']) {
      assert.equal(await timing('GET', path, false), null, path)
    }
    for (const path of [LOCATE, '/v1', '/v1/nowhere']) {
      assert.equal(await timing('GET', path, true), null, path)
    }
  })
})

describe('the traceparent of a request', () => {
  const traced = async (traceparent: string) => {
    await ada.lookUp('81.2.69.160', { headers: { traceparent } })
    const [line] = log.requests
    return [line?.traceId, line?.parentId]
  }

  it('sets the trace in its log line', async () => {
    assert.deepEqual(await traced(`00-${TRACE}-${PARENT}-01`), [TRACE, PARENT])
  })

  it('is ignored if it is malformed', async () => {
    assert.deepEqual(await traced(`00-${TRACE}-"}{-01`), [undefined, undefined])
  })
})
