import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { addKey, newDataFolder, type Running, startServer } from '../support/process.ts'

const DOCUMENT = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8')

/** The program that runs each client of docs/clients.md. */
const CLIENTS = { 'locate.sh': 'sh', 'locate.py': 'python3' } as const

/** The block that follows the name of its file. */
function blockOf(file: string): string {
  const pattern = new RegExp(`^<!-- ${file} -->\n\n\`\`\`\\w+\n(.*?)^\`\`\`$`, 'ms')
  const [, block] = pattern.exec(DOCUMENT) ?? []
  assert.ok(block, `docs/clients.md has no ${file}`)
  return block
}

for (const [file, command] of Object.entries(CLIENTS)) {
  describe(`${file} of docs/clients.md`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'meridian-clients-'))
    const { settings, remove } = newDataFolder()
    let server: Running

    before(async () => {
      writeFileSync(join(folder, file), blockOf(file))
      server = await startServer(settings)
    })
    after(async () => {
      await server.stop('SIGTERM')
      remove()
      rmSync(folder, { recursive: true })
    })

    const countLimited = () => server.output().split('"status":429').length - 1
    /** Looks up until the server refuses that, and logs it. The next request is allowed six seconds later. */
    const useUpLimit = async (key: string) => {
      const headers = { 'x-api-key': key }
      while ((await fetch(`${server.url}/v1/ip/81.2.69.160`, { headers })).status === 200);
      while (countLimited() === 0) await sleep(10)
    }
    const locate = async (addresses: readonly string[], key: string) => {
      const { PATH = '' } = process.env
      const env = { PATH, MERIDIAN_URL: server.url, MERIDIAN_KEY: key }
      const child = spawn(command, [join(folder, file), ...addresses], { env })
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
      const texts = [text(child.stdout), text(child.stderr)]
      const [code, stdout = '', stderr = ''] = await Promise.all([ended, ...texts])
      return { code, lines: stdout.trim().split('\n'), stderr }
    }

    it('locates addresses and reports unknown ones', async () => {
      const key = await addKey(settings)
      const { code, lines, stderr } = await locate(['81.2.69.160', '10.0.0.1'], key)
      assert.equal(code, 0, stderr)
      assert.match(lines[0] ?? '', /^81\.2\.69\.160 .*London/)
      assert.equal(lines[1], '10.0.0.1 nobody knows')
    })

    it('exits with the error code of the API', async () => {
      const { code, stderr } = await locate(['81.2.69.160'], 'none')
      assert.equal(code, 1)
      assert.match(stderr, /UNAUTHORIZED.*[0-9a-f]{8}-/)
    })

    it('waits as long as Retry-After says and continues', async () => {
      const key = await addKey(settings, 'ada@example.com', '--plan', 'free')
      await useUpLimit(key)
      const limited = countLimited()
      const addresses = ['81.2.69.1', '81.2.69.2']
      const { code, lines, stderr } = await locate(addresses, key)
      assert.equal(code, 0, stderr)
      const located = lines.map((line) => /^(\S+) .*London/.exec(line)?.[1])
      assert.deepEqual(located, addresses)
      assert.ok(countLimited() > limited)
    })
  })
}
