/** The Debian package, installed by dpkg above a copy-on-write view of this machine's files. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { freePort, freePortRange } from '../../media/testing/free-ports.ts'
import { MachineOverlays, type OverlayRoot, overlayObstacle } from '../support/machine-overlay.ts'
import { Program } from '../support/program.ts'
import { until } from '../support/until.ts'

const repository = join(import.meta.dirname, '..', '..')

let folder: string
let deb: string

let overlays: MachineOverlays
let machine: OverlayRoot

/** Socket of the service manager, at which the gateway reports that it is ready. */
const notificationSocket = '/run/trunkline-notifications'

/** Program in Perl that prints the reports, as systemd would read them (sd_notify(3)). */
const notificationReader = `
  use IO::Socket::UNIX; $| = 1; umask 0;
  my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => "${notificationSocket}") or die $!;
  print "listening\\n";
  my $notification;
  print "$notification\\n" while defined $socket->recv($notification, 4096);
`

/** Runs a script above this machine. Rejects if it fails. Resolves with its output. */
const succeeds = (script: string): Promise<string> => machine.run(script)

/** Returns the reason why the package cannot be tried on this machine; undefined if it can. */
const obstacle = (): string | undefined =>
  existsSync('/usr/bin/dpkg-deb') ? overlayObstacle() : 'dpkg is missing'

const missing = obstacle()
if (missing !== undefined) process.stderr.write(`Debian package not tested: ${missing}\n`)

beforeAll(async () => {
  if (missing !== undefined) return
  folder = mkdtempSync(join(tmpdir(), 'trunkline-deb-'))
  mkdirSync(join(folder, 'packages'))
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
  overlays = await MachineOverlays.open()
  machine = await overlays.mount('machine')
  deb = built
})
afterAll(async () => {
  await overlays?.close()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

it.skipIf(missing !== undefined)(
  'installs, runs as its own user, keeps its configuration in an upgrade, and is purged',
  async () => {
    expect(await succeeds(`dpkg --install ${deb}`)).toContain('systemctl enable --now trunkline')
    expect(await succeeds('trunkline --version')).toMatch(/\d+\.\d+\.\d+/)
    expect(await succeeds('zcat /usr/share/man/man1/trunkline.1.gz')).toContain('.TH TRUNKLINE 1')
    expect(await succeeds('stat -c "%U %G %a" /etc/trunkline/trunkline.yaml /var/lib/trunkline')).toBe(
      'root trunkline 640\ntrunkline trunkline 750\n',
    )
    const asService = 'setpriv --reuid trunkline --regid trunkline --clear-groups --no-new-privs'
    const file = '/etc/trunkline/trunkline.yaml'
    await succeeds(`trunkline init --yes --force ${file}`)
    expect(await succeeds(`stat -c "%U %G %a" ${file}`)).toBe('root trunkline 640\n')
    expect(await succeeds(`${asService} trunkline check ${file} 2>&1`)).not.toMatch(/error|warning/i)
    expect(await succeeds(`grep dataDir ${file}`)).toContain('"/var/lib/trunkline"')

    const faults = await succeeds('systemd-analyze verify /lib/systemd/system/trunkline.service 2>&1')
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
    await succeeds(`cat ${config} >/etc/trunkline/trunkline.yaml`)
    const systemd = new Program('nsenter', machine.argumentsOf(`exec perl -e '${notificationReader}'`), {
      name: 'systemd',
      cwd: '/',
    })
    onTestFinished(async () => {
      await systemd.stop()
    })
    await until('the reader of notifications listens', () => systemd.lines.includes('listening'))
    // The same user, environment and command as in the unit.
    const environment = `NODE_ENV=production NODE_COMPILE_CACHE=/var/cache/trunkline NOTIFY_SOCKET=${notificationSocket}`
    const start = `exec ${asService} env -i PATH=$PATH ${environment} trunkline run /etc/trunkline/trunkline.yaml`
    const program = new Program('nsenter', machine.argumentsOf(start), { name: 'gateway', cwd: '/' })
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
    await until('systemd has read READY=1', () => systemd.lines.includes('READY=1'))
    for (const path of ['/', '/sdk/index.json', '/docs/'])
      expect([path, await answered(path)]).toEqual([path, 200])
    await succeeds(`TRUNKLINE_HEALTH=http://127.0.0.1:${http}/healthz /usr/lib/trunkline/scripts/healthcheck`)
    expect(await program.stop(20_000)).toBe(0)
    await until('systemd has read STOPPING=1', () => systemd.lines.includes('STOPPING=1'))

    // The operator's own mode stays.
    await succeeds(`chmod 0600 ${file} && chown trunkline ${file}`)
    await succeeds(`dpkg --install ${deb}`)
    expect(await succeeds(`stat -c "%U %G %a" ${file}`)).toBe('trunkline trunkline 600\n')
    expect(await succeeds('cat /etc/trunkline/trunkline.yaml')).toContain('alice@example.test')
    // An operator may use a file elsewhere.
    await succeeds(`rm ${file} && dpkg --install ${deb}`)
    await succeeds('dpkg --remove trunkline')
    expect(await succeeds('ls /var/lib/trunkline')).toContain('trunkline')
    await succeeds('dpkg --purge trunkline')
    const left = 'ls -d /var/lib/trunkline /etc/trunkline /usr/lib/trunkline; getent passwd trunkline'
    expect(await succeeds(`${left} || true`)).toBe('')
  },
)
