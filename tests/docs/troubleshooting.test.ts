import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { ERROR_STATUS } from '../../lib/parts/errors.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

const TEXT = read('docs/troubleshooting.md').replace(/^```.*?^```$/gms, '')
const SPANS = [...TEXT.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)

const COMMAND =
  /^(npm|docker|meridian|chown|systemctl|journalctl|timedatectl|dmesg|df|ss|ulimit)( |$)|^(--|\/|MERIDIAN_\w+=)/

/** Spans with a blank that are no commands. */
const MESSAGES = SPANS.filter((span) => span.includes(' ') && !COMMAND.test(span))

/**
 * The product's sources, each as one line in which a literal that continues on the next line is whole, and every
 * inserted value is `…`.
 */
const SOURCES = globSync(['{lib,routes,pages,main,admin,scripts}/**/*.{ts,tsx,sh}', 'server.ts'], {
  cwd: root,
}).map((path) =>
  read(path)
    .replace(/['`]\s*\+\s*['`]/g, '')
    .replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…'),
)

/** Whether a line of a source has the message. Each `…` of the message stands for any text. */
function isInSources(message: string): boolean {
  const parts = message.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const pattern = new RegExp(parts.join('.*'))
  return SOURCES.some((source) => pattern.test(source))
}

describe('docs/troubleshooting.md', () => {
  it('quotes only messages that the product has, word for word', () => {
    assert.ok(MESSAGES.length > 50)
    assert.deepEqual(
      MESSAGES.filter((message) => !isInSources(message)),
      [],
    )
    assert.ok(!isInSources('another program uses this port, perhaps another Meridiem'))
  })

  it('names each code of an error with its status', () => {
    const named = [...TEXT.matchAll(/(\d{3}) `([A-Z_]+)`/g)]
    assert.ok(named.length > 8)
    const statuses: Readonly<Record<string, number>> = ERROR_STATUS
    for (const [text, status, code = ''] of named) {
      assert.equal(Number(status), statuses[code], text)
    }
  })
})
