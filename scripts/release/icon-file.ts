import lucide from '@iconify-json/lucide/icons.json' with { type: 'json' }
import * as v from 'valibot'

/** The icons of our pages, by Lucide's names. */
const NAMES = [
  'book-open',
  'chart-column',
  'circle-user-round',
  'credit-card',
  'database',
  'gauge',
  'globe',
  'inbox',
  'key-round',
  'layout-dashboard',
  'list-checks',
  'log-out',
  'map-pin',
  'menu',
  'scroll-text',
  'send',
  'server',
  'users',
] as const

const LICENCE = `/*!
 * Icons of Lucide, each as the data of one path, 24 units high. Made by npm run docs.
 *
 * ISC License. Copyright (c) 2026 Lucide Icons and Contributors
 *
 * Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby
 * granted, provided that the above copyright notice and this permission notice appear in all copies.
 *
 * THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
 * IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
 * INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN
 * AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR
 * PERFORMANCE OF THIS SOFTWARE.
 *
 * Some come from Feather. The MIT License (MIT). Copyright (c) 2013-present Cole Bemis
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
 * documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
 * rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
 * permit persons to whom the Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial portions of
 * the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 * WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS
 * OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
 * OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
`

const Icons = v.record(v.string(), v.object({ body: v.string() }))

/** The file with the icons that pages draw, so that servers need no package for them. */
export function iconFile(): string {
  const icons = v.parse(Icons, lucide.icons)
  const lines = NAMES.map((name) => {
    const key = name.includes('-') ? `'${name}'` : name
    const path = toPath(icons[name]?.body ?? '')
    if (path === '') throw new Error(`Lucide has no icon ${name}`)
    return `  ${key}: '${path}',\n`
  })
  return `${LICENCE}export const ICONS = {
${lines.join('')}} as const
`
}

type Attributes = ReadonlyMap<string, string>

/** Joins the shapes of an icon. */
function toPath(body: string): string {
  const shapes = [...body.matchAll(/<(path|circle|ellipse|rect) ([^>]*)\/>/g)]
  return shapes
    .map(([, tag, text = '']) => {
      const pairs = [...text.matchAll(/([\w-]+)="([^"]*)"/g)]
      const given = new Map(pairs.map(([, name = '', value = '']) => [name, value]))
      if (tag === 'path') return given.get('d') ?? ''
      return tag === 'rect' ? rectangle(given) : ellipse(given)
    })
    .join('')
}

function ellipse(given: Attributes): string {
  const [cx, cy, r] = [numberIn(given, 'cx'), numberIn(given, 'cy'), numberIn(given, 'r')]
  const [rx, ry] = [r || numberIn(given, 'rx'), r || numberIn(given, 'ry')]
  const half = (to: number) => `a${rx} ${ry} 0 1 0 ${to} 0`
  return `M${cx - rx} ${cy}${half(2 * rx)}${half(-2 * rx)}`
}

function rectangle(given: Attributes): string {
  const [x, y, r] = [numberIn(given, 'x'), numberIn(given, 'y'), numberIn(given, 'rx')]
  const [across, down] = [numberIn(given, 'width') - 2 * r, numberIn(given, 'height') - 2 * r]
  const corner = (dx: number, dy: number) => `a${r} ${r} 0 0 1 ${dx} ${dy}`
  return [
    `M${x + r} ${y}h${across}${corner(r, r)}v${down}${corner(-r, r)}`,
    `h${-across}${corner(-r, -r)}v${-down}${corner(r, -r)}z`,
  ].join('')
}

/** 0 if it is missing, as in SVG. */
function numberIn(given: Attributes, name: string): number {
  return Number(given.get(name) ?? 0)
}
