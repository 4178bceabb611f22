import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startProxy } from '../parts/net/proxies.ts'
import { sharedServer } from '../support/scene/server.ts'

/* Real curl and nginx: what they send is what tells them apart. */

const { server } = sharedServer()

async function curl(url: string, ...options: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('curl', ['--silent', url, ...options])
  return stdout
}

describe('curl on this machine', () => {
  it('gets look-ups without a key, on new and on kept connections', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const url = server.url.replace('127.0.0.1', host)
      assert.match(await curl(`${url}/81.2.69.160`), /"city":"London"/)
      const twice = await curl(`${url}/`, `${url}/81.2.69.160`)
      assert.match(twice, /^127\.0\.0\.1\n.*"city":"London"/)
    }
    assert.match(await curl(`${server.url}/81.2.69.160`, '--http1.0'), /"code":"NOT_FOUND"/)
    assert.match(await curl(`${server.url}/v1/ip/81.2.69.160`), /"code":"UNAUTHORIZED"/)
  })
})

describe('nginx on this machine, without any settings here', () => {
  it('opens nothing with its defaults until 1.29.6', async () => {
    const recipe = `# in the server:
      location / {
        proxy_http_version 1.0;
        proxy_set_header Connection close;
        proxy_pass http://127.0.0.1:8787;
      }`
    const proxy = await startProxy('nginx', recipe, server.url)
    try {
      assert.match(await curl(`${proxy.url}/81.2.69.160`), /"code":"NOT_FOUND"/)
      assert.match(await curl(`${proxy.url}/`), /^<!doctype html>/)
    } finally {
      await proxy.stop()
    }
  })

  // https://nginx.org/en/CHANGES: since 1.29.7 nginx keeps connections by default, and looks like curl.
  it('opens with its later defaults only what the landing page opens to everybody', async () => {
    const recipe = `# in the server:
      location / {
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_pass http://127.0.0.1:8787;
      }`
    const proxy = await startProxy('nginx', recipe, server.url)
    try {
      assert.match(await curl(`${proxy.url}/81.2.69.160`), /"city":"London"/)
      const page = await curl(`${proxy.url}/?ip=81.2.69.160`, '--header', 'Accept: text/html')
      assert.match(page, /<!doctype html>.*London/s)
      assert.match(await curl(`${proxy.url}/v1/ip/81.2.69.160`), /"code":"UNAUTHORIZED"/)
      assert.match(await curl(`${proxy.url}/v1/account/me`), /"code":"UNAUTHORIZED"/)
    } finally {
      await proxy.stop()
    }
  })
})
