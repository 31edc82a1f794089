import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { neededPackages, repository } from './tree.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')

describe('an installation', () => {
  it('has the packages that the gateway imports, and none of the development', () => {
    const packages = neededPackages(repository)
    const { dependencies } = JSON.parse(read('package.json'))
    for (const name of Object.keys(dependencies)) expect(packages).toContain(`node_modules/${name}`)
    for (const name of ['typescript', 'vite', 'vitepress', 'vitest'])
      expect(packages).not.toContain(`node_modules/${name}`)
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

describe('the Dockerfile', () => {
  it('copies paths that exist', () => {
    const copies = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
    const paths = copies.flatMap(([, sources]) => sources!.split(' '))
    expect(paths.length).toBeGreaterThan(5)
    expect(paths.filter((path) => !existsSync(join(repository, path)))).toEqual([])
  })
})

describe('the context of an image build', () => {
  it('leaves out the files of the operator that compose.yaml reads', () => {
    const { trunkline } = parse(read('compose.yaml')).services
    const files = trunkline.env_file.map(({ path }: { readonly path: string }) => path)
    const mounts = trunkline.volumes.map((mount: string) => mount.split(':')[0])
    const local = [...files, ...mounts.filter((path: string) => path.startsWith('./'))]
    expect(local.length).toBeGreaterThan(1)
    const ignored = read('.dockerignore').split('\n')
    expect(local.filter((path) => !ignored.includes(path.replace('./', '')))).toEqual([])
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
