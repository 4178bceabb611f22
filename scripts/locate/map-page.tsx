import { writeFile } from 'node:fs/promises'
import { raw } from 'hono/html'
import type { PlaceCounts } from '../../lib/address-lists/count-places.ts'
import { makeSource } from '../../lib/assets/sources.ts'
import { reasonOf } from '../../lib/reason.ts'
import { ListMap } from '../../pages/dashboard/look-up/list-map.tsx'
import { ListSummary } from '../../pages/dashboard/look-up/list-summary.tsx'

/** Allows only what the page contains. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

/** Writes a page with a map and a summary of lists, which needs no other file. */
export async function writeMap(path: string, places: PlaceCounts): Promise<void> {
  const page = await mapPage(places)
  try {
    await writeFile(path, page)
  } catch (cause) {
    throw new Error(`Cannot write ${path}: ${reasonOf(cause)}`, { cause })
  }
}

async function mapPage({ summary, spots, elsewhere }: PlaceCounts): Promise<string> {
  const [site, app, world] = await Promise.all(
    (['site.css', 'app.css', 'world-map.svg'] as const).map(makeSource),
  )
  const styles = [site, app].map((bytes) => Buffer.from(bytes ?? []).toString()).join('\n')
  const image = `data:image/svg+xml;base64,${Buffer.from(world ?? []).toString('base64')}`
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={CONTENT_SECURITY_POLICY} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Addresses on the map</title>
        <style>{raw(styles)}</style>
      </head>
      <body>
        <main class="list-page">
          <h1>Addresses on the map</h1>
          <section class="card" aria-label="Map">
            <ListMap world={image} spots={spots} elsewhere={elsewhere} />
          </section>
          <section class="card" aria-label="Summary">
            <ListSummary summary={summary} />
          </section>
        </main>
      </body>
    </html>
  )
  return `<!doctype html>\n${await page}`
}
