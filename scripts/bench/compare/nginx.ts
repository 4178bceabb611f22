import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../../parts/start-process.ts'
import { startServer, type Target } from '../parts/servers.ts'

export const GEOIP2_MODULES = [
  '/usr/lib/nginx/modules/ngx_http_geoip2_module.so',
  '/usr/lib64/nginx/modules/ngx_http_geoip2_module.so',
  '/etc/nginx/modules/ngx_http_geoip2_module.so',
]

const FIELDS = [
  ['continent', 'continent code'],
  ['country', 'country iso_code'],
  ['country_name', 'country names en'],
  ['region', 'subdivisions 0 iso_code'],
  ['region_name', 'subdivisions 0 names en'],
  ['district', 'subdivisions 1 names en'],
  ['city', 'city names en'],
  ['postal_code', 'postal code'],
  ['latitude', 'location latitude'],
  ['longitude', 'location longitude'],
  ['accuracy_radius', 'location accuracy_radius'],
  ['timezone', 'location time_zone'],
] as const

/** Starts nginx with the geoip2 module at `module`. It answers with 12 fields of `database`. */
export function startNginxLookup(folder: string, module: string, database: string) {
  const sources = FIELDS.map(([name, field]) => `$geo_${name} source=$arg_ip ${field};`)
  const json = ['"ip":"$arg_ip"', ...FIELDS.map(([name]) => `"${name}":"$geo_${name}"`)]
  return startNginx(folder, {
    path: '/?ip=',
    modules: `load_module ${module};`,
    http: `geoip2 ${database} { ${sources.join(' ')} }`,
    location: `default_type application/json; return 200 '{${json.join(',')}}';`,
  })
}

/** Starts nginx as a proxy in front of a server, with keep-alive connections to it. */
export function startNginxProxy(folder: string, { url, headers }: Target): Promise<Target> {
  const { host, pathname } = new URL(url)
  return startNginx(folder, {
    path: pathname,
    headers,
    http: `upstream meridian { server ${host}; keepalive 64; keepalive_requests 1000000000; }`,
    location: `proxy_pass http://meridian;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;`,
  })
}

interface NginxOptions extends Partial<Pick<Target, 'headers'>> {
  /** The path in front of the address to look up. */
  readonly path: string
  readonly modules?: string
  readonly http: string
  readonly location: string
}

/** Starts nginx as a single process with all its files in `folder`. */
async function startNginx(folder: string, options: NginxOptions): Promise<Target> {
  const { path, headers = {}, modules = '', http, location } = options
  const port = await findFreePort()
  const file = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    file,
    `${modules}
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx.log;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  ${http}
  server {
    listen 127.0.0.1:${port};
    location / { ${location} }
  }
}
`,
  )
  const command = ['nginx', '-p', folder, '-c', file, '-e', 'stderr']
  return startServer({ folder, command, path, headers, port })
}
