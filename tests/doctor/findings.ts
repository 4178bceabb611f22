import assert from 'node:assert/strict'
import type { Finding } from '../../lib/doctor/finding.ts'

/** Formats each finding as one line, with its advice. */
export function lines(findings: readonly Finding[]): string[] {
  return findings.map((finding) =>
    finding.state === 'ok' ? 'ok' : `${finding.state}: ${finding.text} → ${finding.advice}`,
  )
}

/** Like `lines`, but also with the text of findings without a problem. */
export function allLines(findings: readonly Finding[]): string[] {
  return findings.map((finding) =>
    finding.state === 'ok' ? `ok: ${finding.text}` : lines([finding]).join(),
  )
}

export function matches(findings: readonly Finding[], ...patterns: readonly RegExp[]): void {
  const found = lines(findings)
  assert.equal(found.length, patterns.length, found.join('\n'))
  for (const [at, pattern] of patterns.entries()) assert.match(found[at] ?? '', pattern)
}
