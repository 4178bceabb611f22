import { createServer } from 'node:http'
import { once } from 'node:events'
const s = createServer((q, r) => { r.writeHead(200, {'content-length': 100000}); r.write(Buffer.alloc(50000)) })
s.listen(0, '127.0.0.1'); await once(s, 'listening')
const port = s.address().port
for (const mode of ['abort', 'refresh']) {
const c = new AbortController()
const t = setTimeout(() => { console.log('fire'); c.abort(new Error('idle')) }, 100)
const r = await fetch(`http://127.0.0.1:${port}/`, {signal: c.signal})
try { for await (const x of r.body) { console.log(x.length); if (mode === 'refresh') t.refresh() } } catch (e) { console.log('caught', String(e)) }
}
s.closeAllConnections(); s.close()
