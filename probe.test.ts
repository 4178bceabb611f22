import { createServer } from 'node:http'
import { once } from 'node:events'
import { fetchFile } from './lib/geo/fetch-file.ts'
const s = createServer((q, r) => { console.log('asked', q.headers.range); r.writeHead(200, {'content-length': 100000, etag: '"a"'}); r.write(Buffer.alloc(50000)) })
s.listen(0, '127.0.0.1'); await once(s, 'listening')
const a = s.address(); const port = typeof a === 'object' ? a?.port : 0
console.time('x')
try { console.log(await fetchFile(`http://127.0.0.1:${port}/`, '/tmp/probe-x', { idleMs: 100, onShare: (x) => console.log(x) })) } catch (e) { console.log(String(e)) }
console.timeEnd('x')
s.closeAllConnections(); s.close()
