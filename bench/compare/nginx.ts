import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../../scripts/parts/start-process.ts'
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

/** The databases of `startNginxService`. */
export interface ServiceFiles {
  readonly city: string
  readonly asn: string
  readonly dbipCity: string
}

/** The headers of Meridian's answers. The number of requests left is a constant, because nginx does not know it. */
const SERVICE_HEADERS = [
  ['X-Request-Id', '$request_id'],
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Access-Control-Allow-Origin', '*'],
  ['RateLimit-Policy', '"requests";q=60000000;w=60'],
  ['RateLimit', '"requests";r=59999999;t=1'],
]

const LOG_LINE = {
  time: '"$msec"',
  requestId: '"$request_id"',
  method: '"$request_method"',
  route: '"/v1/ip/{ip}"',
  status: '$status',
  ms: '$request_time',
  key: '"$key_prefix"',
  client: '"$network"',
}

/**
 * Starts nginx with what a look-up of Meridian does, as far as nginx can: a key, a limit per key, three
 * databases, a request id, the same headers, and a log in JSON that is written in blocks.
 */
export function startNginxService(folder: string, module: string, files: ServiceFiles) {
  const key = crypto.randomUUID()
  const city = FIELDS.map(([name, field]) => `$geo_${name} source=$arg_ip ${field};`)
  const names = [
    ...FIELDS.map(([name]) => name),
    'asn',
    'organization',
    'dbip_country',
    'dbip_city',
  ]
  const json = ['"ip":"$arg_ip"', ...names.map((name) => `"${name}":"$geo_${name}"`)]
  const log = Object.entries(LOG_LINE).map(([name, value]) => `"${name}":${value}`)
  const headers = SERVICE_HEADERS.map(([name, value]) => `add_header ${name} '${value}';`)
  return startNginx(folder, {
    path: '/?ip=',
    headers: { 'X-API-Key': key },
    modules: `load_module ${module};`,
    http: `
      geoip2 ${files.city} { ${city.join(' ')} }
      geoip2 ${files.asn} {
        $geo_asn source=$arg_ip autonomous_system_number;
        $geo_organization source=$arg_ip autonomous_system_organization;
      }
      geoip2 ${files.dbipCity} {
        $geo_dbip_country source=$arg_ip country_code;
        $geo_dbip_city source=$arg_ip city;
      }
      map_hash_bucket_size 128;
      map $http_x_api_key $user { default ""; "${key}" "bench"; }
      map $http_x_api_key $key_prefix { "~^(?<prefix>.{12})" $prefix; default ""; }
      map $remote_addr $network { ~^(?<first>\\d+\\.\\d+\\.\\d+)\\. $first.0; default ""; }
      limit_req_zone $http_x_api_key zone=keys:10m rate=1000000r/s;
      log_format json escape=json '{${log.join(',')},"msg":"request"}';`,
    // A `return` in the first location would answer before `limit_req` runs.
    location: `
      if ($user = "") { return 401; }
      limit_req zone=keys burst=100000 nodelay;
      try_files "" @answer;`,
    server: `location @answer {
      access_log ${folder}/requests.log json buffer=64k flush=1s;
      default_type application/json;
      ${headers.join('\n')}
      return 200 '{${json.join(',')}}';
    }`,
  })
}

/**
 * Starts nginx as a proxy in front of a server: with kept connections to it, or as Debian installs it, which
 * asks by HTTP/1.0 and opens a connection for each request.
 */
export function startNginxProxy(
  folder: string,
  { url, headers }: Target,
  way: 'as installed' | 'with keepalive' = 'with keepalive',
): Promise<Target> {
  const { host, pathname } = new URL(url)
  const keeps = way === 'with keepalive'
  const keepalive = keeps ? 'keepalive 64; keepalive_requests 1000000000;' : ''
  const kept = keeps ? 'proxy_http_version 1.1; proxy_set_header Connection "";' : ''
  return startNginx(folder, {
    path: pathname,
    headers,
    http: `upstream server { server ${host}; ${keepalive} }`,
    location: `proxy_pass http://server;
      ${kept}
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
  /** Further blocks of the server. */
  readonly server?: string
}

/** Starts nginx as a single process with all its files in `folder`. */
async function startNginx(folder: string, options: NginxOptions): Promise<Target> {
  const { path, headers = {}, modules = '', http, location, server = '' } = options
  const port = await findFreePort()
  const file = join(folder, `nginx-${port}.conf`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    file,
    `${modules}
daemon off;
master_process off;
pid ${folder}/nginx-${port}.pid;
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
    ${server}
  }
}
`,
  )
  const command = ['nginx', '-p', folder, '-c', file, '-e', 'stderr']
  return startServer({ folder, command, path, headers, port })
}
