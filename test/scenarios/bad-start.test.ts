/**
 * Starts that fail: each message names the key, the value and the holder, and no start hangs. Each kind of
 * exit has a process of its own; the other starts share one.
 */
import { createSocket } from 'node:dgram'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { takeDataFolder } from '../../gateway/cluster/data-folder.ts'
import { freePort, type LeasedRange, leaseRtpRange } from '../../media/testing/free-ports.ts'
import { GatewayStarts } from '../support/gateway-starts.ts'
import { Program } from '../support/program.ts'
import { until } from '../support/until.ts'

const command = join(import.meta.dirname, '..', '..', 'scripts', 'trunkline')

let folder: string
let rtp: LeasedRange
let starts: GatewayStarts
const ports = { sip: 0, webrtc: 0, http: 0, metrics: 0 }

beforeAll(async () => {
  rtp = await leaseRtpRange(100)
  folder = mkdtempSync(join(tmpdir(), 'trunkline-bad-start-'))
  for (const name of ['sip', 'webrtc', 'http', 'metrics'] as const) ports[name] = await freePort()
  starts = new GatewayStarts(folder)
})
afterAll(async () => {
  await starts?.stop()
  rtp.release()
  rmSync(folder, { recursive: true })
})

/** Returns a configuration that starts, with other keys at its end. */
const configWith = (more = '', { dataDir = 'data' } = {}): string => `
dataDir: ${dataDir}
sip: { listen: [{ transport: udp, address: 127.0.0.1, port: ${ports.sip} }] }
media:
  rtp: { ports: { from: ${rtp.from}, to: ${rtp.to} } }
  webrtc: { bind: 127.0.0.1, port: ${ports.webrtc} }
domains:
  - domain: a.example
    allow: [127.0.0.0/8]
    handler: { kind: xml, document: "<Response><Hangup/></Response>" }
${more || httpWith()}
`

const httpWith = (tls = 'false'): string =>
  `http: { plain: { address: 127.0.0.1, port: ${ports.http} }, tls: ${tls}, metrics: { address: 127.0.0.1, port: ${ports.metrics} } }`

const runs = (file: string, env = process.env): Program =>
  new Program(command, ['run', file], { cwd: folder, env })

/** Runs a gateway that must fail. Returns its exit code and its output. */
const failedStart = async (text: string) => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, text)
  return starts.run(file)
}

/** Takes a port of 127.0.0.1 until the end of the test. */
const take = async (protocol: 'udp' | 'tcp', port: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket =
    protocol === 'udp'
      ? createSocket('udp4').bind(port, '127.0.0.1', resolve)
      : createServer().listen(port, '127.0.0.1', resolve)
  onTestFinished(() => {
    socket.close()
  })
  await promise
}

it.each([
  ['sip.listen[0]', 'udp', 'sip'],
  ['media.webrtc.port', 'udp', 'webrtc'],
  ['http.plain', 'tcp', 'http'],
  ['http.metrics', 'tcp', 'metrics'],
] as const)('a taken port of %s is reported with its holder', async (key, protocol, name) => {
  await take(protocol, ports[name])
  const { code, output } = await failedStart(configWith())
  expect(code).toBe(1)
  expect(output).toContain(
    `trunkline: ${key}: cannot listen on ${protocol} 127.0.0.1:${ports[name]}: the port is taken by process ${process.pid} (`,
  )
})

describe('a data folder', () => {
  it('that another gateway uses is reported with its process', async () => {
    mkdirSync(join(folder, 'used'))
    const used = takeDataFolder(join(folder, 'used'))
    onTestFinished(() => used.release())
    const { code, output } = await failedStart(configWith('', { dataDir: 'used' }))
    expect(code).toBe(1)
    expect(output).toContain(
      `trunkline: Another gateway runs with the data folder ${folder}/used: process ${process.pid} (`,
    )
  })

  it.each([
    ['below a file', 'a-file/data', 'a-file is a file'],
    ['below /proc', '/proc/trunkline/data', '/proc is a system folder'],
  ])('%s is reported with its line', async (_, dataDir, reason) => {
    writeFileSync(join(folder, 'a-file'), '')
    const { code, output } = await failedStart(configWith('', { dataDir }))
    expect(code).toBe(2)
    expect(output).toMatch(/trunkline\.yaml:2:10 dataDir: cannot be (?:created|used): /)
    expect(output).toContain(reason)
  })
})

it('a missing certificate is reported with its line', async () => {
  const { code, output } = await failedStart(configWith(httpWith('{ certificate: a.pem, key: b.pem }')))
  expect(code).toBe(2)
  expect(output).toContain('http.tls.certificate: cannot be read: there is no such file')
})

it('a missing mediasoup worker is reported', async () => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, configWith())
  const program = runs(file, { ...process.env, MEDIASOUP_WORKER_BIN: '/nonexistent/worker' })
  expect(await program.end()).toBe(1)
  expect(program.lines.at(-1)).toContain('The mediasoup worker cannot be run: /nonexistent/worker')
})

it('a file that cannot be read is reported', async () => {
  const program = runs(join(folder, 'none.yaml'))
  expect(await program.end()).toBe(2)
  expect(program.lines.join('\n')).toContain('cannot be read: there is no such file')
  const { code, output } = await starts.run(folder)
  expect(code).toBe(2)
  expect(output).toContain('cannot be read: it is a folder')
})

it('a signal during the start ends the gateway in order, as soon as it runs', async () => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, configWith('', { dataDir: 'signalled' }))
  const program = runs(file)
  const isStarting = () => program.lines.length > 0
  await until('the start writes a line', isStarting, Boolean)
  program.signal('SIGTERM')
  expect(await program.end()).toBe(0)
  const events = program.lines.map((line) => JSON.parse(line).event)
  expect(events).toContain('gateway.stopped')
})
