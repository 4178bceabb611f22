import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { prepareLocate } from '../../address-lists/run-locate.ts'
import { assertAccessible, SCREENS } from '../../pages/accessible.ts'
import { openBrowser, type TestBrowser } from '../../pages/browser.ts'

const { command, path } = prepareLocate()

/** The database has Köln in 1.0.0.0/8. */
const TRUTH = `prefix,country,city,lat,lon,group
1.0.0.0/24,DE,Köln,50.94,6.96,one
1.1.0.0/24,DE,Bonn,50.73,7.1,two
1.2.0.0/24,FR,Paris,48.85,2.35,two
`

let browser: TestBrowser
before(async () => {
  browser = await openBrowser()
})
after(() => browser.close())

describe('npm run accuracy -- --html', { timeout: 300_000 }, () => {
  for (const { name, options } of SCREENS) {
    it(`writes a page that needs no other file: ${name}`, async () => {
      const [truth, file] = [path('truth.csv'), path('out.html')]
      writeFileSync(truth, TRUTH)
      const { code, stderr } = await command('accuracy/main', [truth, '--html', file])
      assert.equal(code, 0, stderr)
      const { page, errors } = await browser.visitor(options)
      const requests: string[] = []
      page.on('request', (request) => requests.push(request.url()))
      const url = pathToFileURL(file).href
      await page.goto(url)
      assert.deepEqual(requests, [url])
      const plots = page.locator('svg.plot')
      assert.deepEqual(
        await plots.evaluateAll((all) => all.map((plot) => plot.getAttribute('aria-label'))),
        [
          'Shares of right answers, per prefix',
          'Shares of right answers, per group',
          'Shares of cities found within each distance',
          'geoConfidence and right answers about the country',
          'geoConfidence and right answers about the city within 50 km, if named',
          'confidence.country and right answers about the country',
          'confidence.city and right answers about the city within 50 km, if named',
        ],
      )
      await assertAccessible(page, 'the figures')
      assert.deepEqual(errors, [])
      await page.context().close()
    })
  }
})
