import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { Environment } from '../../lib/config/environment.ts'

const DOCUMENT = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
const SECTION = section('## Variables')

interface Row {
  readonly name: string
  readonly meaning: string
  readonly standard: string
}

describe('the table of variables in docs/configuration.md', () => {
  it('lists every variable with its meaning and default, and no other', () => {
    assert.deepEqual(tableRows(SECTION), Object.entries(Environment.entries).map(toRow))
  })
})

function section(title: string): string {
  const start = DOCUMENT.indexOf(`${title}\n`)
  assert.ok(start >= 0, `docs/configuration.md has no section "${title}"`)
  const end = DOCUMENT.indexOf('\n## ', start)
  return DOCUMENT.slice(start, end < 0 ? undefined : end)
}

function tableRows(text: string): Row[] {
  const rows = text.matchAll(/^\| `([A-Z_]+)` +\| (.+?) +\| (.*?) *\|$/gm)
  return [...rows].map(([, name = '', meaning = '', standard = '']) => ({
    name,
    meaning,
    standard: standard.replaceAll('`', ''),
  }))
}

function toRow([name, schema]: [string, (typeof Environment.entries)[Name]]): Row {
  const standard = v.getDefault(schema)
  return { name, meaning: v.getDescription(schema.wrapped) ?? '', standard: String(standard ?? '') }
}

type Name = keyof typeof Environment.entries
