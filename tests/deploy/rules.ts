import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/* The alerts of deploy/prometheus/rules.yml. */

export const RULES_FILE = fileURLToPath(
  new URL('../../deploy/prometheus/rules.yml', import.meta.url),
)

interface Rule {
  readonly alert: string
  /** In PromQL. */
  readonly expr: string
  readonly summary: string
}

const RULE =
  /^ +- alert: (?<alert>\w+)\n +expr: (?<expr>.+)\n(?: +for: .+\n)? +annotations:\n +summary: "(?<summary>.+)"\n/gm

/** Reads all alerts. Fails if the file has one that is written in another way. */
export function readRules(): Rule[] {
  const text = readFileSync(RULES_FILE, 'utf8')
  const rules = [...text.matchAll(RULE)].map(({ groups = {} }) => ({
    alert: groups['alert'] ?? '',
    expr: groups['expr'] ?? '',
    summary: groups['summary'] ?? '',
  }))
  assert.equal(rules.length, text.match(/- alert:/g)?.length)
  return rules
}

/** The file with rules that fire as soon as their condition holds. */
export function impatientRules(): string {
  return readFileSync(RULES_FILE, 'utf8').replaceAll(/^( +for:) .+$/gm, '$1 0s')
}
