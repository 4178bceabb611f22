import { offerCopying } from './copying.ts'
import { keepFresh } from './refreshing.ts'

/** What every page of the dashboard can do beyond its forms and links. */
offerCopying(document)
keepFresh()
