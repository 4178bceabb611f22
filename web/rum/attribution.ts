import type { CLSMetric, INPMetric, LCPMetric } from 'web-vitals'
import type { Attribution, InpPhase } from '../../lib/contract/telemetry/attribution.ts'

/* web-vitals has a build with attribution, which alone is larger than this script. */

const SELECTOR_LENGTH = 100

export function attributeLcp({ entries }: LCPMetric): Attribution {
  return { lcp: selectorOf(entries.at(-1)?.element) }
}

export function attributeInp({ entries }: Pick<INPMetric, 'entries'>): Attribution {
  const target = entries.find((entry) => entry.target)?.target
  return { inp: selectorOf(target), inpPhase: longestPhase(entries) }
}

export function attributeCls({ entries }: CLSMetric): Attribution {
  const largest = entries.reduce<LayoutShift | undefined>(
    (most, entry) => (most !== undefined && most.value >= entry.value ? most : entry),
    undefined,
  )
  const { sources = [] } = largest ?? {}
  const source = sources.find(({ node }) => node?.nodeType === Node.ELEMENT_NODE) ?? sources[0]
  return { cls: selectorOf(source?.node) }
}

/**
 * As web-vitals divides an interaction: until its handlers run, while they run, and until the next frame. Its events
 * have the same start and end.
 */
function longestPhase(entries: readonly PerformanceEventTiming[]): InpPhase | undefined {
  const [first] = entries
  if (first === undefined) return undefined
  const { startTime, processingStart, duration } = first
  const processingEnd = Math.max(...entries.map((entry) => entry.processingEnd))
  const delay = processingStart - startTime
  const processing = processingEnd - processingStart
  const presentation = startTime + duration - processingEnd
  if (delay >= Math.max(processing, presentation)) return 'input-delay'
  return processing >= presentation ? 'processing' : 'presentation'
}

/**
 * A selector of the element or, for a text, of its parent: names and classes, from the nearest ancestor with an id
 * on, as far as the length allows. It has no text of the page. undefined if there is no element any more.
 */
function selectorOf(node: Node | null | undefined): string | undefined {
  let element = node instanceof Element ? node : node?.parentElement
  let selector: string | undefined
  while (element) {
    const { id, localName, classList, parentElement } = element
    const part = id ? `#${id}` : [localName, ...classList].join('.')
    const longer: string = selector ? `${part}>${selector}` : part.slice(0, SELECTOR_LENGTH)
    if (longer.length > SELECTOR_LENGTH) break
    selector = longer
    element = id ? null : parentElement
  }
  return selector
}
