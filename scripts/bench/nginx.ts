import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

const VARIABLES = [
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

export interface NginxOptions {
  readonly folder: string
  readonly module: string
  readonly database: string
}

/** Writes the configuration of a single worker that answers 12 fields. Returns file and URL. */
export async function writeNginxConfig({ folder, module, database }: NginxOptions) {
  const port = await findFreePort()
  const path = join(folder, 'nginx.conf')
  const sources = VARIABLES.map(([name, field]) => `      $geo_${name} source=$arg_ip ${field};\n`)
  const fields = VARIABLES.map(([name]) => `"${name}":"$geo_${name}"`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    path,
    `load_module ${module};
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx.log;
events { worker_connections 1024; }
http {
    access_log off;
    keepalive_requests 1000000000;
${temporary.map((name) => `    ${name}_temp_path ${folder}/${name};\n`).join('')}
    geoip2 ${database} {
${sources.join('')}    }
    server {
        listen 127.0.0.1:${port};
        location / {
            default_type application/json;
            return 200 '{"ip":"$arg_ip",${fields.join(',')}}';
        }
    }
}
`,
  )
  return { path, url: `http://127.0.0.1:${port}` }
}

export async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('Cannot find a free port')
  return address.port
}
