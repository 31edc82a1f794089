/**
 * @schedule first: no other file takes longer.
 *
 * The container's image: each step of the Dockerfile runs above a copy-on-write view of this Debian. The
 * steps download packages of Debian and of npm. Only the cache of npm is shared with the machine.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { cachedWorker } from '../../scripts/worker-build/cache.ts'
import { Container, ContainerHost, type ContainerOptions, hostAddress } from '../support/container.ts'
import { readDockerfile } from '../support/dockerfile.ts'
import { type BuiltStage, buildImage, sendContext } from '../support/image-build.ts'
import { MachineOverlays, type OverlayRoot, overlayObstacle } from '../support/machine-overlay.ts'
import { until } from '../support/until.ts'

const repository = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(repository, path), 'utf8')

/** Folders of this machine that belong to Debian. All others are hidden from the image. */
const debianFolders = /^(bin|boot|dev|etc|lib\d*|libx32|proc|sbin|sys|usr|var|run)$/

/** Text of each file that must not leave the operator's folder. */
const secret = 'secret-of-the-operator'

let folder: string
let overlays: MachineOverlays
let host: ContainerHost
let stages: readonly BuiltStage[]

/** Returns the reason why the image cannot be tried on this machine; undefined if it can. */
const obstacle = (): string | undefined => {
  const overlay = overlayObstacle()
  if (overlay !== undefined) return overlay
  if (!/^VERSION_CODENAME=bookworm$/m.test(readFileSync('/etc/os-release', 'utf8')))
    return 'the machine is no Debian 12, as the base image is'
  const network = ['--net', 'ip', 'link', 'add', 'edge', 'type', 'veth', 'peer', 'name', 'far']
  const { status, error, stderr } = spawnSync('unshare', network, { encoding: 'utf8' })
  return status === 0 ? undefined : `no network can be made: ${error?.message ?? stderr.trim()}`
}

const missing = obstacle()
if (missing !== undefined) process.stderr.write(`Image not tested: ${missing}\n`)

/** Makes the base image: this Debian with Node, npm and the user `node`, without compilers and git. */
const makeBase = async (): Promise<OverlayRoot> => {
  const hidden = [...readdirSync('/').filter((name) => !debianFolders.test(name)), 'usr/local']
  const upper = `${overlays.folder}/base/upper`
  // A character device 0/0 hides what the lower layer has at this path.
  const hiding = hidden.map((path) => `mknod ${upper}/${path} c 0 0`).join(' && ')
  await overlays.run(`mkdir -p ${upper}/usr && ${hiding}`)
  const base = await overlays.mount('base')
  const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())))
  const local = `${base.path}/usr/local`
  await overlays.run(
    [
      `mkdir -p ${local}/bin ${local}/lib/node_modules ${base.path}/opt ${base.path}/home`,
      `mkdir -m 700 ${base.path}/root && mkdir -m 1777 ${base.path}/tmp`,
      `cp ${join(repository, 'node_modules', 'node', 'bin', 'node')} ${local}/bin/node`,
      `cp -R ${npm} ${local}/lib/node_modules/npm`,
      `ln -s ../lib/node_modules/npm/bin/npm-cli.js ${local}/bin/npm`,
    ].join(' && '),
  )
  await base.run(
    [
      'set -e',
      // As in the base image. A package is not written through to the disk file by file.
      'echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/docker-apt-speedup',
      'if getent passwd 1000 >/dev/null; then userdel "$(id -un 1000)"; fi',
      'useradd --create-home --uid 1000 node',
      // Without binutils there is no compiler.
      'export DEBIAN_FRONTEND=noninteractive',
      "dpkg --get-selections binutils git | sed -n 's/[[:space:]]*install$//p' | xargs -r apt-get purge -qq -y",
      'rm -rf /var/lib/apt/lists/*',
      // The base image has no manual pages.
      'rm -f /var/lib/man-db/auto-update',
      `echo 'Acquire::Retries "3";' >/etc/apt/apt.conf.d/80-retries`,
    ].join('\n'),
  )
  await base.unmount()
  return base
}

/** Makes a clone as an operator with a strict umask leaves it: with configurations, keys and built files. */
const makeClone = (clone: string): void => {
  const options = { cwd: repository, encoding: 'utf8' } as const
  const kept = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], options)
  for (const path of kept.split('\0').filter((each) => each !== '')) {
    mkdirSync(join(clone, dirname(path)), { recursive: true, mode: 0o700 })
    cpSync(join(repository, path), join(clone, path))
    chmodSync(join(clone, path), lstatSync(join(clone, path)).mode & 0o700)
  }
  const others = [
    '.env',
    '.git/config',
    'etc/trunkline.yaml',
    'etc/tls/key.pem',
    'trunkline-2.yaml',
    'config/data/api-token',
    'config/data/trunkline.db',
    'gateway/server.key',
    'data/secret.key',
    'node_modules/left-over/index.js',
    'client/dist/old.js',
    'docs/.vitepress/dist/old.html',
  ]
  for (const path of others) {
    mkdirSync(join(clone, dirname(path)), { recursive: true })
    writeFileSync(join(clone, path), secret)
  }
}

/** Gives the stage that builds this machine's caches: the compiled worker, and the packages of npm. */
const lendCaches = async (name: string, root: OverlayRoot): Promise<void> => {
  if (name !== 'build') return
  const { version } = JSON.parse(read('node_modules/mediasoup/package.json')) as { readonly version: string }
  const worker = cachedWorker(version, true)
  if (worker === undefined) throw new Error('no mediasoup worker; run scripts/worker first')
  const workers = `${root.path}/opt/cache/trunkline/worker`
  const npmCache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
  await overlays.run(
    [
      `mkdir -p ${workers} ${root.path}/mnt/npm ${npmCache}`,
      `cp -R ${dirname(worker)} ${workers}/${basename(dirname(worker))}`,
      `mount --bind ${npmCache} ${root.path}/mnt/npm`,
    ].join(' && '),
  )
}

beforeAll(async () => {
  if (missing !== undefined) return
  folder = mkdtempSync(join(tmpdir(), 'trunkline-image-'))
  makeClone(join(folder, 'clone'))
  sendContext(join(folder, 'clone'), join(folder, 'context'), read('.dockerignore'))
  overlays = await MachineOverlays.open()
  host = await ContainerHost.open()
  const base = await makeBase()
  const { dependencies } = JSON.parse(read('package.json'))
  stages = await buildImage(readDockerfile(read('Dockerfile')), {
    overlays,
    base: base.layers,
    baseName: `node:${dependencies.node}-bookworm-slim`,
    context: join(folder, 'context'),
    environment: {
      npm_config_cache: '/mnt/npm',
      npm_config_prefer_offline: 'true',
      // The certificates that this machine trusts.
      ...(process.env.NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS }),
    },
    buildArguments: { REVISION: 'abc123' },
    onStage: lendCaches,
  })
}, 1_200_000)
afterAll(async () => {
  await host?.close()
  await overlays?.close()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

/** Returns the last stage, which is the image. */
const image = (): BuiltStage => stages.at(-1)!

/** Returns the paths of all files that the steps of a stage added or changed. */
const filesOf = ({ root }: BuiltStage): readonly string[] =>
  readdirSync(root.seenLayer, { recursive: true, encoding: 'utf8' }).filter((path) =>
    lstatSync(join(root.seenLayer, path)).isFile(),
  )

it.skipIf(missing !== undefined)('sends no secret and nothing built to the build', () => {
  const sent = readdirSync(join(folder, 'context'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    lstatSync(join(folder, 'context', path)).isFile(),
  )
  expect(sent).toContain('gateway/main.ts')
  expect(sent.filter((path) => readFileSync(join(folder, 'context', path), 'utf8') === secret)).toEqual([])
})

it.skipIf(missing !== undefined)('has the files that run, which every user can read, and no others', () => {
  const files = filesOf(image())
  const addons = ['media/edge/native/udp.node', 'media/compose/native/compose.node']
  for (const path of ['gateway/main.ts', ...addons, 'libexec/mediasoup-worker'])
    expect(files).toContain(`opt/trunkline/${path}`)
  // The packages of npm come as their authors publish them.
  const own = files.filter((path) => path.startsWith('opt/') && !path.includes('/node_modules/'))
  const unwanted = /\.test\.ts$|\/(testing|example|\.git|data)\/|\.(pem|key|db|c|h|map)$|\/\.(env|npmrc)$/
  expect(own.filter((path) => unwanted.test(path) && !/\/dist\/.+\.map$/.test(path))).toEqual([])
  expect(files.filter((path) => /^(opt\/(?!trunkline\/)|root\/|tmp\/|usr\/local\/)/.test(path))).toEqual([
    'usr/local/bin/trunkline',
  ])
  const paths = readdirSync(image().root.seenLayer, { recursive: true, encoding: 'utf8' })
  expect(paths).toContain('opt/trunkline/node_modules/fastify/package.json')
  const tools = /(^|\/)node_modules\/(npm|typescript|vite|vitepress|vitest)\/|^usr\/bin\/(git|gcc|cc|c\+\+)$/
  expect(paths.filter((path) => tools.test(path))).toEqual([])
  const programs = readdirSync(join(image().root.seenPath, 'usr/local/bin'))
  expect(programs.sort()).toEqual(['node', 'trunkline'])
  const modes = files
    .filter((path) => path.startsWith('opt/'))
    .map((path) => lstatSync(join(image().root.seenLayer, path)).mode)
  expect([...new Set(modes.map((mode) => mode & 0o777))].sort()).toEqual([0o644, 0o755])
})

it.skipIf(missing !== undefined)('has labels, ports and volumes', () => {
  const { labels, ports, volumes } = image().config
  expect(labels).toEqual({
    'org.opencontainers.image.title': 'trunkline',
    'org.opencontainers.image.revision': 'abc123',
    'org.opencontainers.image.description': JSON.parse(read('package.json')).description,
  })
  expect(ports).toContain('5060/udp')
  expect(volumes).toEqual(['/var/lib/trunkline', '/var/cache/trunkline'])
})

/** Returns the settings of `compose.yaml`, with new volumes that have the content of the image. */
const composed = async (): Promise<ContainerOptions> => {
  const { trunkline } = parse(read('compose.yaml')).services as {
    readonly trunkline: { readonly volumes: readonly string[]; readonly tmpfs: readonly string[] }
  }
  expect(trunkline).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  })
  const stage = image()
  const volumes: Record<string, { readonly source: string; readonly isReadOnly: boolean }> = {}
  for (const [at, mount] of trunkline.volumes.entries()) {
    const [from = '', place = '', mode] = mount.split(':')
    const source = `${overlays.folder}/volume-${at}`
    // A named volume begins with the content of the image. A folder of the operator belongs to the user 1000.
    const fill = from.startsWith('.')
      ? `mkdir ${source} && chown 1000:1000 ${source}`
      : `cp -a ${stage.root.path}${place} ${source}`
    await overlays.run(fill)
    volumes[place] = { source, isReadOnly: mode === 'ro' }
  }
  expect(Object.keys(volumes)).toEqual(expect.arrayContaining([...stage.config.volumes]))
  return { overlays, host, stage, volumes, temporary: trunkline.tmpfs }
}

it.skipIf(missing !== undefined)(
  'runs as its user with a read-only root, answers the health check, and ends at the signal of the image',
  async () => {
    const options = await composed()
    const file = '/etc/trunkline/trunkline.yaml'
    const etc = { ...options.volumes['/etc/trunkline']!, isReadOnly: false }
    const init = new Container({ ...options, volumes: { ...options.volumes, '/etc/trunkline': etc } }, [
      'init',
      '--yes',
      file,
    ])
    expect([await init.program.end(), init.program.lines.join('\n')]).toEqual([
      0,
      expect.stringContaining(`${file} is written`),
    ])
    const container = new Container(options)
    onTestFinished(() => container.kill())
    const { healthCheck } = options.stage.config
    await until(
      'the health check passes',
      () =>
        container.run(healthCheck).then(
          () => true,
          () => false,
        ),
      (passes) => passes || container.program.exitCode !== undefined,
      60_000,
    )
    const paths = ['/healthz', '/readyz', '/', '/sdk/index.json', '/docs/']
    // The gateway is healthy a moment before it is ready.
    await expect
      .poll(() => host.statusesOf(paths.map((path) => `http://127.0.0.1:8080${path}`)))
      .toEqual(paths.map(() => 200))
    await expect(
      container.run(['env', 'TRUNKLINE_HEALTH=http://127.0.0.1:1/', 'scripts/healthcheck']),
    ).rejects.toThrow()
    expect(await container.run(['trunkline', 'status', file])).toContain(': healthy, ')
    expect(await container.run(['cat', file])).toContain(hostAddress)
    const facts = await container.run(['grep', '-E', '^(Uid|CapEff|CapBnd|NoNewPrivs):', '/proc/1/status'])
    const none = '0'.repeat(16)
    expect(facts.replaceAll('\t', ' ')).toBe(
      `Uid: 1000 1000 1000 1000\nCapEff: ${none}\nCapBnd: ${none}\nNoNewPrivs: 1\n`,
    )
    await expect(container.run(['touch', '/opt/trunkline/x'])).rejects.toThrow('Read-only')
    expect(await container.stop()).toBe(0)
  },
)
