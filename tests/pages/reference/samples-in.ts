import assert from 'node:assert/strict'
import type { Sample } from '../../../pages/reference/samples/samples.ts'

export type Language = Sample['language']

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/** The samples that a page shows, by language. */
export function samplesIn(html: string): Record<Language, string> {
  const find = (language: Language) => {
    const pattern = new RegExp(`<pre id="sample-${language}"[^>]*>([^<]*)</pre>`)
    const [, text] = pattern.exec(html) ?? []
    assert.ok(text, `no sample in ${language}`)
    return text.replaceAll(/&[a-z#\d]+;/g, (entity) => ENTITIES[entity] ?? entity)
  }
  return {
    curl: find('curl'),
    typescript: find('typescript'),
    python: find('python'),
    go: find('go'),
    php: find('php'),
  }
}
