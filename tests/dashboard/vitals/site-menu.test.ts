import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { section, shopScene } from './shop.ts'

const { ada, page } = shopScene()

/** The addresses of the sites in the menu. */
function linksOf(html: string): string[] {
  const menu = html.split('id="site-menu"')[1]?.split('</nav>')[0] ?? ''
  return [...menu.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))
}

describe('the sites beside the heading', () => {
  it('are only in the heading if there is one', async () => {
    const html = await page()
    assert.match(html, /<h1>Web vitals of shop\.example<\/h1>/)
    assert.doesNotMatch(html, /site-menu/)
  })

  it('are links that keep what else is chosen, but not the page', async () => {
    await ada.submit('/app/sites', { name: 'https://blog.example' })
    const html = await page('?period=28d&device=mobile&country=GB&metric=cls&sort=lcp')
    const kept = 'period=28d&device=mobile&country=GB&metric=cls&sort=lcp'
    const sites = ['shop', 'blog'].map((name) => encodeURIComponent(`https://${name}.example`))
    assert.deepEqual(
      linksOf(html),
      sites.map((site) => `/app/vitals?site=${site}&${kept}`),
    )
    assert.match(html, /<a [^>]*aria-current="page">shop\.example<\/a>/)
    const [, blog = ''] = linksOf(
      await page('?path=/cart&period=custom&from=2026-01-02&to=2026-01-03'),
    )
    assert.match(blog, /period=custom&from=2026-01-02&to=2026-01-03$/)
    const { html: next } = await ada.visit(blog)
    assert.match(next, /<h1>Web vitals of blog\.example<\/h1>/)
    assert.match(next, /<input type="hidden" name="site" value="https:\/\/blog\.example"/)
    assert.match(section(next, 'empty'), /No views/)
  })

  it('lead away from a site that is not one of them', async () => {
    const { status, html } = await ada.visit('/app/vitals?site=https://other.example')
    assert.equal(status, 404)
    assert.match(html, /Choose a site/)
    assert.equal(linksOf(html).length, 1)
  })

  it('are only on the page of one site', async () => {
    for (const path of ['/app', '/app/sites', '/app/keys']) {
      assert.doesNotMatch((await ada.visit(path)).html, /class="site"|site-menu/)
    }
  })
})
