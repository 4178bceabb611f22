import { GUIDES, type GuideName } from '../contents.ts'
import { assistantGuide } from './assistants.ts'
import { authenticationGuide } from './authentication.ts'
import { batchGuide } from './batches.ts'
import type { Block, GuideFacts } from './block.ts'
import { errorGuide } from './errors.ts'
import { fieldGuide } from './fields.ts'
import { limitGuide } from './limits.ts'

export interface GuideText {
  readonly title: string
  readonly blocks: readonly Block[]
}

const WRITERS: Readonly<Record<GuideName, (facts: GuideFacts) => Block[]>> = {
  authentication: authenticationGuide,
  errors: errorGuide,
  limits: limitGuide,
  fields: fieldGuide,
  batches: batchGuide,
  assistants: assistantGuide,
}

/** A guide: what holds for many operations. */
export function guideText(name: GuideName, facts: GuideFacts): GuideText {
  const title = GUIDES.find((guide) => guide.name === name)?.title ?? name
  return { title, blocks: WRITERS[name](facts) }
}
