import assert from 'node:assert/strict'
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'
import { csvParse, dsvFormat } from 'd3-dsv'
import type { Page } from 'playwright-core'
import { toCapShares } from '../../../lib/contract/account/cap-shares.ts'
import { assertAccessible, SCREENS } from '../../pages/accessible.ts'
import { processFolder } from '../../support/temp-folder.ts'
import { browseSignedIn } from '../signed-in.ts'

const TIMEOUT_MS = 600_000
const NO_ADDRESS = 'No IPv4 or IPv6 address'

const { open, site } = browseSignedIn()

/** Drops a file on the page. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  await page.evaluate(
    `{
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))
      for (const type of ['dragover', 'drop']) {
        const event = new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })
        document.querySelector('main').dispatchEvent(event)
      }
    }`,
  )
}

async function download(page: Page, name: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.click(`text=${name}`)])
  return readFile(await file.path(), 'utf8')
}

function announced(page: Page, text: string) {
  return page.waitForSelector(`#message:has-text("${text}")`)
}

function recognised(page: Page, text: string) {
  return page.waitForSelector(`#recognised:has-text("${text}")`)
}

/** The texts of the cells of the table, with its head. */
function cellsOf(page: Page): Promise<string[][]> {
  return page
    .locator('.answers tr')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent ?? '')),
    )
}

/** The rows of a table of the summary. */
async function countsOf(page: Page, name: string): Promise<string[]> {
  const table = page.locator('.counts table', { has: page.locator(`thead th:text-is("${name}")`) })
  return table.locator('tbody tr').allInnerTexts()
}

describe('the batch page', { timeout: TIMEOUT_MS }, () => {
  for (const { name, options } of SCREENS) {
    it(`is accessible, and shows results as table, map and summary: ${name}`, async () => {
      const { page, errors } = await open('/app/batch', options)
      await assertAccessible(page, 'nothing looked up')
      await page.click('#batch button')
      await announced(page, 'Enter an address or choose a file.')
      assert.ok(!(await page.isVisible('#progress')))
      await page.fill('#addresses', '81.2.69.160\n<img src=x onerror=alert(1)>\n10.0.0.1')
      await recognised(page, 'One address per line')
      await page.click('#batch button')
      await announced(page, 'Done: 3 rows, 1 row without an address.')
      const left = await page
        .locator('#run > :visible')
        .evaluateAll((all) => all.map(({ id }) => id))
      assert.deepEqual(left, ['message', 'errors'], 'what has ended needs no bar')
      const bare = 'Row 2 has no address: “<img src=x onerror=alert(1)>”'
      assert.equal(await page.textContent('#errors'), bare)
      const [heads, london, bad] = await cellsOf(page)
      assert.deepEqual(heads?.slice(0, 3), ['column_1', 'Address', 'Country code'])
      assert.deepEqual(london?.slice(0, 4), ['81.2.69.160', '81.2.69.160', 'GB', 'United Kingdom'])
      assert.equal(bad?.at(-1), NO_ADDRESS)
      assert.deepEqual(await countsOf(page, 'Country'), ['United Kingdom (GB)\t1\t50%'])
      await page.evaluate("document.querySelector('.answers').scrollTo(200, 0)")
      const leftOf = async (part: string) => (await page.locator(part).first().boundingBox())?.x
      assert.equal(await leftOf('.answers tbody th'), await leftOf('.answers'), 'the first stays')
      const map = page.locator('.list-map svg')
      assert.equal(await map.locator('circle').count(), 1)
      assert.match((await map.getAttribute('aria-label')) ?? '', /around London, GB: 1 row$/)
      await assertAccessible(page, 'a result')
      assert.deepEqual(errors, [])
    })
  }

  it('keeps the columns of a dropped file, asks for each address once, and offers its results', async () => {
    const { page, errors } = await open('/app/batch')
    const file =
      '\ufeffwhen;who;ip\r\n1;"Doe; Jo";81.2.69.160\r\n2;=1+1;none\r\n3;Eve;16.0.0.1\r\n4;Al;81.2.69.160\r\n'
    await drop(page, 'visitors.csv', file)
    await recognised(page, 'CSV with semicolons, with a header; addresses in “ip”')
    for (const box of await page.$$('[name=column]:not([value=city]):not([value=latitude])')) {
      await box.uncheck()
    }
    const clicked = page.click('#batch button')
    const [request] = await Promise.all([page.waitForRequest('**/app/batch'), clicked])
    assert.deepEqual(request.postDataJSON().ips, ['81.2.69.160', '16.0.0.1'])
    await announced(page, 'Done: 4 rows, 1 row without an address.')
    const rows = [
      ['1', 'Doe; Jo', '81.2.69.160', '81.2.69.160', 'London', '51.5142', '', ''],
      ['2', '=1+1', 'none', '', '', '', '', NO_ADDRESS],
      ['3', 'Eve', '16.0.0.1', '16.0.0.1', 'São "Paulo" 🌆', '-23.55', '', ''],
      ['4', 'Al', '81.2.69.160', '81.2.69.160', 'London', '51.5142', '', ''],
    ]
    const labels = ['when', 'who', 'ip', 'Address', 'City', 'Latitude', 'Error']
    assert.deepEqual(await cellsOf(page), [labels, ...rows.map((cells) => cells.toSpliced(-2, 1))])
    const heads = ['when', 'who', 'ip', 'geo_ip', 'city', 'latitude', 'degraded', 'error']
    const csv = await download(page, 'Download CSV')
    assert.ok(csv.startsWith('\ufeffwhen;who;ip;geo_ip;'))
    assert.deepEqual(dsvFormat(';').parseRows(csv.slice(1)), [heads, ...rows])
    const tsv = await download(page, 'Download TSV')
    assert.deepEqual(dsvFormat('\t').parseRows(tsv.slice(1)), [heads, ...rows])
    const lines = (await download(page, 'Download JSON Lines')).trim().split('\n')
    assert.deepEqual(JSON.parse(lines[0] ?? ''), {
      ...{ when: '1', who: 'Doe; Jo', ip: '81.2.69.160' },
      geo: {
        query: { type: 'ip', value: '81.2.69.160' },
        location: { city: 'London', coordinates: { latitude: 51.5142 } },
        meta: { degraded: false },
      },
    })
    assert.equal(lines.length, 4)
    assert.deepEqual(errors, [])
  })

  it('shows how a list is read, and takes corrections', async () => {
    const { page } = await open('/app/batch')
    await page.fill('#addresses', 'to 16.0.0.1 from 81.2.69.160\nnothing\nfrom 81.2.69.160')
    await recognised(page, 'Lines of a log; addresses anywhere in the line, the first of several')
    await page.click('summary:text("Set it yourself")')
    await page.selectOption('#take', 'last')
    await recognised(page, 'the last of several')
    await page.click('#batch button')
    await announced(page, 'In 1 row with several addresses, the last was looked up.')
    assert.deepEqual(await countsOf(page, 'City'), ['London, GB-ENG\t2\t100%'])
    await page.fill('#addresses', 'a,ip\n16.0.0.1,81.2.69.160')
    await recognised(page, 'addresses in “ip”')
    await page.selectOption('#place', { label: 'in a' })
    await recognised(page, 'addresses in “a”')
    await page.selectOption('#header', 'no')
    await recognised(page, 'CSV with commas; addresses in “column_1”')
    await page.click('#batch button')
    await announced(page, 'Done: 2 rows, 1 row without an address.')
    await page.selectOption('#kind', 'lines')
    await recognised(page, 'Lines of a log')
  })

  it('waits until the limit allows more, stops on request, and continues from there', async () => {
    const { page } = await open('/app/batch')
    let refused = 0
    await page.route('**/app/batch', (route) => {
      const { ips } = route.request().postDataJSON()
      if (refused === 0 && ips.includes('10.0.3.232')) {
        refused += 1
        return route.fulfill({ status: 429, headers: { 'retry-after': '600' } })
      }
      const results = ips.map((value: string) => ({ query: { value }, location: { city: 'X' } }))
      return route.fulfill({ json: { results, meta: { degraded: false } } })
    })
    const rows = Array.from({ length: 1_500 }, (_, n) => `10.0.${n >> 8}.${n & 255}`)
    await drop(page, 'addresses.txt', rows.join('\n'))
    await page.click('#batch button')
    await announced(page, 'You have reached the per-minute limit')
    await page.waitForSelector('#counted:has-text("1,000 of 1,500 addresses, continuing in")')
    await assertAccessible(page, 'waiting')
    assert.equal(await page.evaluate('document.activeElement.id'), 'stop')
    await page.keyboard.press('Enter')
    await announced(page, 'Stopped.')
    assert.equal(await page.evaluate('document.activeElement.id'), 'go-on')
    assert.ok(await page.isVisible('#progress'), 'not all is looked up')
    const stopped = csvParse(await download(page, 'Download CSV'))
    assert.equal(stopped.length, 1_500)
    assert.equal(stopped.filter(({ error }) => error === 'Not looked up').length, 500)
    await page.click('#go-on')
    await announced(page, 'Done: 1,500 rows.')
    const csv = csvParse(await download(page, 'Download CSV'))
    const cells = csv.map(({ ip, city, error }) => [ip, city, error])
    const expected = rows.map((row) => [row, 'X', ''])
    assert.deepEqual(cells, expected)
  })

  it('turns the pages of the table', async () => {
    const { page } = await open('/app/batch')
    const rows = Array.from({ length: 120 }, (_, n) => `${n},::1`)
    await drop(page, 'addresses.csv', rows.join('\n'))
    await page.click('#batch button')
    await announced(page, 'Done: 120 rows.')
    for (const [name, range, first] of [
      ['Next', 'Rows 51 to 100 of 120', '50'],
      ['Last', 'Rows 101 to 120 of 120', '100'],
      ['Next', 'Rows 101 to 120 of 120', '100'],
      ['Previous', 'Rows 51 to 100 of 120', '50'],
      ['First', 'Rows 1 to 50 of 120', '0'],
    ] as const) {
      await page.click(`text="${name}"`)
      await page.waitForSelector(`nav [role=status]:has-text("${range}")`)
      assert.equal((await cellsOf(page))[1]?.[0], first)
    }
    await assertAccessible(page, 'a table of several pages')
  })

  it('marks the rows that are reduced once all requests of the period are used', async () => {
    const { services } = site.app
    const { id: userId } = await site.app.user('ada').row()
    const caller = {
      userId,
      plan: services.plans.free,
      paid: null,
      capShares: toCapShares(null),
      key: null,
    }
    services.meters.open(caller, Date.now()).count(services.plans.free.monthlyCap - 1)
    const { page } = await open('/app/batch')
    await page.fill('#addresses', '16.0.0.1\n81.2.69.160\n81.2.69.160')
    await page.click('#batch button')
    await announced(page, 'contain only the country in 2 rows, marked in the column degraded.')
    const rows = csvParse(await download(page, 'Download CSV'))
    const cells = rows.map(({ degraded, city }) => [degraded, city])
    assert.deepEqual(cells, [
      ['', 'São "Paulo" 🌆'],
      ['true', ''],
      ['true', ''],
    ])
  })

  it('says that the user is signed out', async () => {
    const { page } = await open('/app/batch')
    await page.context().clearCookies()
    await page.fill('#addresses', '81.2.69.160')
    await page.click('#batch button')
    await announced(page, 'You are signed out')
    assert.ok(await page.isVisible('#go-on'))
  })

  it('answers with a page without JavaScript', async () => {
    const { page } = await open('/app/batch', { javaScriptEnabled: false })
    assert.ok(!(await page.isVisible('#file')))
    await page.fill('#addresses', 'who\tip\nAda\t81.2.69.160\nEve\tnope')
    await page.click('#batch button')
    await page.waitForSelector('.answers')
    const [heads, ada, eve] = await cellsOf(page)
    assert.deepEqual(heads?.slice(0, 4), ['who', 'ip', 'Address', 'Country code'])
    assert.deepEqual(ada?.slice(0, 4), ['Ada', '81.2.69.160', '81.2.69.160', 'GB'])
    assert.equal(eve?.at(-1), NO_ADDRESS)
    assert.equal(await page.locator('.list-map circle').count(), 1)
    assert.match((await page.textContent('#recognised')) ?? '', /^TSV, with a header/)
  })

  it('looks up a log of a million lines', async () => {
    const { page, errors } = await open('/app/batch')
    page.setDefaultTimeout(TIMEOUT_MS)
    const file = join(processFolder(), 'access.log')
    await pipeline(logLines(MILLION), createWriteStream(file))
    await page.setInputFiles('#file', file)
    await recognised(page, 'Lines of a log')
    const requests: string[][] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') requests.push(request.postDataJSON().ips)
    })
    await page.click('#batch button')
    await announced(page, 'Done: 1,000,000 rows, 100,000 rows without an address.')
    const sizes = requests.map(({ length }) => length)
    assert.deepEqual(sizes, [502])
    const facts = await page.locator('.facts dd').allInnerTexts()
    assert.deepEqual(facts, ['1,000,000', '502', '100,000'])
    assert.deepEqual(await countsOf(page, 'City'), [
      'London, GB-ENG\t300,000\t33%',
      'São "Paulo" 🌆, BR\t100,000\t11%',
    ])
    assert.equal(await page.locator('.answers tbody tr').count(), 50)
    await page.click('text="Last"')
    await page.waitForSelector('nav [role=status]:has-text("Rows 999,951 to 1,000,000")')
    assert.match((await cellsOf(page)).at(-1)?.[0] ?? '', / n=999999$/)
    const csv = await download(page, 'Download CSV')
    assert.equal(csv.split('\n').length, MILLION + 2)
    assert.equal(csv.split(NO_ADDRESS).length - 1, 100_000)
    assert.deepEqual(errors, [])
  })
})

const MILLION = 1_000_000

/** Of ten lines three are from London, one from São Paulo, five from 500 unknown addresses, one from none. */
function* logLines(count: number): Generator<string> {
  for (let n = 0; n < count; ) {
    let text = ''
    for (const end = n + 1_000; n < end; n++)
      text += `${clientOf(n)} - - "GET /about HTTP/1.1" 200 n=${n}\n`
    yield text
  }
}

function clientOf(n: number): string {
  const digit = n % 10
  if (digit < 3) return '81.2.69.160'
  if (digit === 3) return '16.0.0.1'
  return digit === 4 ? '-' : `10.0.${digit}.${Math.floor(n / 10) % 100}`
}
