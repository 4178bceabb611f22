import type { PlaceCounts } from '../../../lib/address-lists/count-places.ts'
import { makeSource } from '../../../lib/assets/sources.ts'
import { ListMap } from '../../../pages/dashboard/look-up/list-map.tsx'
import { ListSummary } from '../../../pages/dashboard/look-up/list-summary.tsx'
import { writePage } from './write-page.tsx'

/** Writes a page with a map and a summary of lists, which needs no other file. */
export async function writeMap(
  path: string,
  { summary, spots, elsewhere }: PlaceCounts,
): Promise<void> {
  const world = await makeSource('world-map.svg')
  const image = `data:image/svg+xml;base64,${Buffer.from(world).toString('base64')}`
  await writePage(path, {
    title: 'Addresses on the map',
    styles: ['site.css', 'app.css'],
    content: (
      <>
        <section class="card" aria-label="Map">
          <ListMap world={image} spots={spots} elsewhere={elsewhere} />
        </section>
        <section class="card" aria-label="Summary">
          <ListSummary summary={summary} />
        </section>
      </>
    ),
  })
}
