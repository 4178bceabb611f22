import { offerCopying } from './copying.ts'
import { followLink } from './following.ts'
import { showCurrentPage } from './rail.ts'
import { keepFresh } from './refreshing.ts'

/* What every page of the dashboard can do beyond its forms and links. */
offerCopying(document)
followLink(document)
showCurrentPage(document)
keepFresh()
