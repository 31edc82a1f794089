/** The Debian package, installed by dpkg above a copy-on-write view of this machine's files. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { freePort, freePortRange } from '../../media/testing/free-ports.ts'
import { Program } from '../support/program.ts'
import { until } from '../support/until.ts'

const repository = join(import.meta.dirname, '..', '..')

let folder: string
let deb: string

/** Process that holds the mounts. They end with it. */
let holder: Program | undefined

/** Mounts an overlay above `/` that keeps its changes in memory, and waits. */
const mountOverlay = (at: string): string => {
  const layers = `lowerdir=/,upperdir=${at}/upper,workdir=${at}/work`
  return [
    `mount -t tmpfs tmpfs ${at}`,
    `mkdir ${at}/upper ${at}/work ${at}/root`,
    `mount -t overlay overlay -o ${layers} ${at}/root`,
    ...['proc', 'dev'].map((name) => `mount --rbind /${name} ${at}/root/${name}`),
    'echo mounted',
    'exec sleep 600',
  ].join(' && ')
}

/** Returns the arguments of `nsenter` that run a script in the overlay. */
const insideOf = (script: string): readonly string[] => [
  `--mount=/proc/${holder?.pid}/ns/mnt`,
  'chroot',
  `${folder}/overlay/root`,
  // The environment of the tests is not that of an operator.
  '/usr/bin/env',
  '-i',
  `PATH=${process.env.PATH}`,
  '/bin/sh',
  '-c',
  script,
]

const inside = (script: string) => spawnSync('nsenter', insideOf(script), { cwd: '/', encoding: 'utf8' })

/** Runs a script in the overlay. Throws if it fails. Returns its output. */
const succeeds = (script: string): string => {
  const { status, stdout, stderr } = inside(script)
  if (status !== 0) throw new Error(`${script} ended with ${status}:\n${stdout}${stderr}`)
  return stdout
}

/** Returns the reason why the package cannot be tried on this machine; undefined if it can. */
const obstacle = (): string | undefined => {
  if (process.getuid?.() !== 0) return 'only root can install packages'
  if (!existsSync('/usr/bin/dpkg-deb')) return 'dpkg is missing'
  const at = mkdtempSync(join(tmpdir(), 'overlay-'))
  const tried = mountOverlay(at).replace('exec sleep 600', 'true')
  const { status, stderr } = spawnSync('unshare', ['--mount', '/bin/sh', '-c', tried], { encoding: 'utf8' })
  rmSync(at, { recursive: true })
  return status === 0 ? undefined : `no overlay can be mounted: ${stderr.trim()}`
}

const missing = obstacle()
if (missing !== undefined) process.stderr.write(`Debian package not tested: ${missing}\n`)

beforeAll(async () => {
  if (missing !== undefined) return
  folder = mkdtempSync(join(tmpdir(), 'trunkline-deb-'))
  for (const name of ['packages', 'overlay']) mkdirSync(join(folder, name))
  const output = execFileSync(
    '/bin/sh',
    // The umask of a careful builder must not decide who reads the files.
    [
      '-c',
      `umask 077; exec "${join(repository, 'scripts', 'package-deb')}" --fast "${join(folder, 'packages')}"`,
    ],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const built = output.trim().split('\n').at(-1)!
  const started = new Program('unshare', ['--mount', '/bin/sh', '-c', mountOverlay(`${folder}/overlay`)])
  holder = started
  await until(
    'the overlay is mounted',
    () => started.lines,
    (lines) => lines.includes('mounted'),
  )
  deb = built
})
afterAll(async () => {
  await holder?.stop()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

it.skipIf(missing !== undefined)(
  'installs, runs as its own user, keeps its configuration in an upgrade, and is purged',
  async () => {
    expect(succeeds(`dpkg --install ${deb}`)).toContain('systemctl enable --now trunkline')
    expect(succeeds('trunkline --version')).toMatch(/\d+\.\d+\.\d+/)
    expect(succeeds('stat -c "%U %G %a" /etc/trunkline/trunkline.yaml /var/lib/trunkline')).toBe(
      'root trunkline 640\ntrunkline trunkline 750\n',
    )
    const asService = 'setpriv --reuid trunkline --regid trunkline --clear-groups --no-new-privs'
    const file = '/etc/trunkline/trunkline.yaml'
    succeeds(`trunkline init --yes --force ${file}`)
    expect(succeeds(`stat -c "%U %G %a" ${file}`)).toBe('root trunkline 640\n')
    expect(succeeds(`${asService} trunkline check ${file} 2>&1`)).not.toMatch(/error|warning/i)
    expect(succeeds(`grep dataDir ${file}`)).toContain('"/var/lib/trunkline"')

    const faults = succeeds('systemd-analyze verify /lib/systemd/system/trunkline.service 2>&1')
    expect(faults).not.toMatch(/trunkline\.service/)

    const http = await freePort()
    const sip = await freePort()
    const webrtc = await freePort()
    const rtp = await freePortRange(2)
    const config = join(folder, 'trunkline.yaml')
    writeFileSync(
      config,
      JSON.stringify({
        dataDir: '/var/lib/trunkline',
        sip: { listen: [{ transport: 'udp', address: '127.0.0.1', port: sip }] },
        media: {
          rtp: { bind: ['127.0.0.1'], ports: rtp },
          webrtc: { bind: '127.0.0.1', port: webrtc },
        },
        http: { plain: { address: '127.0.0.1', port: http } },
        subscribers: [{ name: 'alice', email: 'alice@example.test', password: 'alice-password' }],
      }),
    )
    succeeds(`cat ${config} >/etc/trunkline/trunkline.yaml`)
    // The same user, environment and command as in the unit.
    const environment = 'NODE_ENV=production NODE_COMPILE_CACHE=/var/cache/trunkline'
    const start = `exec ${asService} env -i PATH=$PATH ${environment} trunkline run /etc/trunkline/trunkline.yaml`
    const program = new Program('nsenter', insideOf(start), { name: 'gateway', cwd: '/' })
    onTestFinished(async () => {
      await program.stop()
    })
    const answered = async (path: string) =>
      fetch(`http://127.0.0.1:${http}${path}`).then(
        ({ status }) => status,
        () => 0,
      )
    await until(
      'the gateway is ready',
      () => answered('/healthz'),
      (status) => status === 200,
    )
    for (const path of ['/', '/sdk/index.json', '/docs/'])
      expect([path, await answered(path)]).toEqual([path, 200])
    succeeds(`TRUNKLINE_HEALTH=http://127.0.0.1:${http}/healthz /usr/lib/trunkline/scripts/healthcheck`)
    expect(await program.stop(20_000)).toBe(0)

    // The operator's own mode stays.
    succeeds(`chmod 0600 ${file} && chown trunkline ${file}`)
    succeeds(`dpkg --install ${deb}`)
    expect(succeeds(`stat -c "%U %G %a" ${file}`)).toBe('trunkline trunkline 600\n')
    expect(succeeds('cat /etc/trunkline/trunkline.yaml')).toContain('alice@example.test')
    // An operator may use a file elsewhere.
    succeeds(`rm ${file} && dpkg --install ${deb}`)
    succeeds('dpkg --remove trunkline')
    expect(succeeds('ls /var/lib/trunkline')).toContain('trunkline')
    succeeds('dpkg --purge trunkline')
    expect(
      inside('ls -d /var/lib/trunkline /etc/trunkline /usr/lib/trunkline; getent passwd trunkline').stdout,
    ).toBe('')
  },
)
