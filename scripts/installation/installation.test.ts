import { execFile, execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { copyInstallation, neededPackages, repository } from './tree.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')

describe('an installation', () => {
  it('has the packages that the gateway imports, and none of the development', () => {
    const packages = neededPackages(repository)
    const { dependencies } = JSON.parse(read('package.json'))
    for (const name of Object.keys(dependencies)) expect(packages).toContain(`node_modules/${name}`)
    for (const name of ['typescript', 'vite', 'vitepress', 'vitest'])
      expect(packages).not.toContain(`node_modules/${name}`)
  })

  it('has each file that git keeps and a gateway runs, and none that a gateway or its operator made', () => {
    const folder = mkdtempSync(join(tmpdir(), 'installation-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const clone = join(folder, 'clone')
    const kept = execFileSync('git', ['ls-files'], { cwd: repository, encoding: 'utf8' }).trim().split('\n')
    const write = (path: string, mode = 0o600) => {
      mkdirSync(dirname(join(clone, path)), { recursive: true })
      writeFileSync(join(clone, path), '{}', { mode })
    }
    for (const path of kept) write(path)
    for (const path of ['client/dist/a.js', 'console/dist/a.js', 'docs/.vitepress/dist/index.html'])
      write(path)
    write('node_modules/.bin/node', 0o700)
    write('node_modules/mediasoup/index.js')
    write('package-lock.json')
    writeFileSync(join(clone, 'package-lock.json'), '{"packages":{"node_modules/mediasoup":{}}}')
    const secrets = [
      ...['api-token', 'secret.key', 'trunkline.db', 'tls-key.pem', 'oauth-keys/1.pem', 'schema.json'].map(
        (name) => `config/data/${name}`,
      ),
      'config/my.yaml',
      'config/my.json',
      'gateway/notes.txt',
      'media/key.pem',
      'trunkline.yaml',
      '.env',
    ]
    for (const path of secrets) write(path)
    const installed = join(folder, 'installed')
    mkdirSync(installed, { mode: 0o700 })
    copyInstallation(installed, { worker: join(clone, 'node_modules/.bin/node'), from: clone })
    const files = readdirSync(installed, { recursive: true }).map(String)
    expect(secrets.filter((path) => files.includes(path))).toEqual([])
    const ran =
      /^(gateway|sip-agent|handlers|media|config)\/(?!.*\b(testing|example)\/).*(?<!\.test)\.(ts|sh)$/
    expect(kept.filter((path) => ran.test(path) && !files.includes(path))).toEqual([])
    const modes = new Set(files.map((path) => lstatSync(join(installed, path)).mode & 0o777))
    modes.delete(0o777)
    expect([...modes].sort()).toEqual([0o644, 0o755])
  })
})

describe('compose.yaml', () => {
  const { services, volumes } = parse(read('compose.yaml'))

  it('runs Trunkline alone, and other servers by profiles', () => {
    expect(
      Object.entries(services).map(([name, service]) => [
        name,
        (service as { readonly profiles?: readonly string[] }).profiles,
      ]),
    ).toEqual([
      ['trunkline', undefined],
      ['postgres', ['postgres']],
      ['drachtio', ['drachtio']],
    ])
  })

  it('mounts declared volumes only, and gives no capability to the gateway', () => {
    const named = Object.values(services as Record<string, { readonly volumes?: readonly string[] }>)
      .flatMap((service) => service.volumes ?? [])
      .map((mount) => mount.split(':')[0]!)
      .filter((source) => !source.startsWith('.'))
    expect(named.sort()).toEqual(Object.keys(volumes).sort())
    expect(services.trunkline).toMatchObject({ cap_drop: ['ALL'], read_only: true })
  })
})

describe('the systemd unit', () => {
  it('permits real-time priority to the media threads, by a limit and without a capability', () => {
    const unit = read('scripts/installation/debian/trunkline.service')
    expect(unit).toMatch(/^LimitRTPRIO=1$/m)
    expect(unit).not.toContain('CAP_SYS_NICE')
  })
})

describe('the Dockerfile', () => {
  it('copies paths that exist', () => {
    const copies = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
    const paths = copies.flatMap(([, sources]) => sources!.split(' '))
    expect(paths.length).toBeGreaterThan(5)
    expect(paths.filter((path) => !existsSync(join(repository, path)))).toEqual([])
  })
})

describe('the context of an image build', () => {
  const ignored = read('.dockerignore').split('\n')

  it('leaves out the files of the operator that compose.yaml reads', () => {
    const { trunkline } = parse(read('compose.yaml')).services
    const files = trunkline.env_file.map(({ path }: { readonly path: string }) => path)
    const mounts = trunkline.volumes.map((mount: string) => mount.split(':')[0])
    const local = [...files, ...mounts.filter((path: string) => path.startsWith('./'))]
    expect(local.length).toBeGreaterThan(1)
    expect(local.filter((path) => !ignored.includes(path.replace('./', '')))).toEqual([])
  })

  it('leaves out configurations, keys and data folders, wherever they are', () => {
    for (const pattern of ['**/data', '**/*.pem', '**/*.key', '**/*.db', 'trunkline*.yaml'])
      expect(ignored).toContain(pattern)
  })
})

describe('the health check of the container', () => {
  const check = (url: string): Promise<boolean> =>
    new Promise((resolve) => {
      const env = { ...process.env, TRUNKLINE_HEALTH: url }
      execFile(join(repository, 'scripts', 'healthcheck'), { env }, (error) => resolve(error === null))
    })

  it('passes for 200 only', async () => {
    let status = 200
    let path: string | undefined
    const server = createServer(({ url }, response) => {
      path = url
      response.writeHead(status).end('ok')
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    expect(await check(`http://127.0.0.1:${port}/healthz`)).toBe(true)
    expect(path).toBe('/healthz')
    status = 503
    expect(await check(`http://127.0.0.1:${port}/healthz`)).toBe(false)
    server.close()
    expect(await check('http://127.0.0.1:1/healthz')).toBe(false)
  })
})
