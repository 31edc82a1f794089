/** `scripts/bench api`. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { postgresPrograms, startPostgres } from '../../gateway/directory/testing/postgres-server.ts'
import { alice, Gateway } from '../../test/support/gateway.ts'
import { family, memory, nanoseconds } from './processes.ts'

const connections = 16
const apiToken = 'a-token-of-the-benchmark'
const basic = `Basic ${Buffer.from(`default:${apiToken}`).toString('base64')}`
const noLimits = {
  calls: 100_000,
  api: { perToken: 10_000_000, perAddress: 10_000_000 },
}

interface Rate {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** CPU of the answering process per request, in µs; mostly independent of other load on the machine. */
  readonly cpu: number
}

/** Sends one request. Rejects if the response is not the expected one. */
type SendRequest = (pool: Pool) => Promise<void>

/**
 * Prints requests per second next to those of a bare Fastify route in the same run. Measures SQLite and a
 * private PostgreSQL server, if installed. Then prints start time and memory with many subscribers.
 */
export const api = async (seconds = 5, subscribers = 100_000): Promise<void> => {
  const bare = await bareRate(seconds)
  console.log(`bare Fastify route: ${rateText(bare)}`)
  console.log(`${connections} connections, ${seconds} s each, SQLite`)
  await rates(seconds, bare)
  await ratesOnPostgres(seconds, bare)
  await starts(subscribers)
}

const rateText = ({ perSecond, p50, p99, cpu }: Rate): string =>
  `${Math.round(perSecond)} requests/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ` +
  `${Math.round(cpu)} µs of CPU each`

const bareRate = async (seconds: number): Promise<Rate> => {
  const file = fileURLToPath(new URL('api-bare.ts', import.meta.url))
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [port] = await once(child.stdout, 'data')
    return await rate(
      `http://127.0.0.1:${String(port).trim()}`,
      seconds,
      getRequest('/things/1', {}),
      child.pid!,
    )
  } finally {
    child.kill()
  }
}

/** Measures PostgreSQL on the same machine; the server does not wait for the disk. */
const ratesOnPostgres = async (seconds: number, bare: Rate): Promise<void> => {
  const programs = postgresPrograms()
  if (programs === undefined) return console.log('PostgreSQL is not installed; skipped')
  const folder = mkdtempSync(join(tmpdir(), 'bench-postgres-'))
  chmodSync(folder, 0o711)
  try {
    const server = startPostgres(programs, folder)
    try {
      console.log('the same on PostgreSQL')
      await rates(seconds, bare, { url: server.urlOf('postgres') })
    } finally {
      server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const rates = async (seconds: number, bare: Rate, store?: { readonly url: string }): Promise<void> => {
  const peer = await startRejectingPeer()
  const gateway = await Gateway.start({
    http: { apiToken },
    limits: noLimits,
    ...(store && { store }),
    sip: { registrar: { domains: [] } },
  })
  try {
    const { token, address } = await signedIn(gateway.url)
    const bearer = { authorization: `Bearer ${token}` }
    const requests: Readonly<Record<string, SendRequest>> = {
      'address lookup by a subscriber’s token': getRequest(`/api/fabric/addresses/${address}`, bearer),
      'token check, the subscriber’s own record': getRequest('/api/fabric/subscriber/info', bearer),
      'token of the API, an empty list': getRequest('/api/fabric/resources/ai_agents', {
        authorization: basic,
      }),
      'call creation, to a SIP peer that rejects': dialRequest(`sip:desk@127.0.0.1:${peer.port}`),
    }
    for (const [name, sendRequest] of Object.entries(requests)) {
      const measured = await rate(gateway.url, seconds, sendRequest, gateway.pid)
      const pace = measured.perSecond / bare.perSecond
      const cpu = measured.cpu / bare.cpu
      console.log(
        `${name}: ${rateText(measured)}; relative to the bare route: rate ${pace.toFixed(2)}, CPU ` +
          `${cpu.toFixed(1)}`,
      )
    }
  } finally {
    await gateway.stop()
    peer.close()
  }
}

const getRequest =
  (path: string, headers: Record<string, string>): SendRequest =>
  async (pool) => {
    const { statusCode, body } = await pool.request({ path, method: 'GET', headers })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`GET ${path}: ${statusCode} ${text}`)
  }

const swml = { version: '1.0.0', sections: { main: ['hangup'] } }

const dialRequest =
  (to: string): SendRequest =>
  async (pool) => {
    const headers = { authorization: basic, 'content-type': 'application/json' }
    const params = { to, from: 'sip:bench@127.0.0.1', swml }
    const options = { path: '/api/calling/calls', method: 'POST', headers } as const
    const { statusCode, body } = await pool.request({
      ...options,
      body: JSON.stringify({ command: 'dial', params }),
    })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`dial: ${statusCode} ${text}`)
  }

/** Sends requests over all connections for the given time, after one second of warm-up. */
const rate = async (url: string, seconds: number, sendRequest: SendRequest, pid: number): Promise<Rate> => {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const during = async (ms: number): Promise<number[]> => {
    const times: number[] = []
    const end = performance.now() + ms
    const one = async () => {
      for (let began = performance.now(); began < end; began = performance.now()) {
        await sendRequest(pool)
        times.push(performance.now() - began)
      }
    }
    await Promise.all(Array.from({ length: connections }, one))
    return times
  }
  try {
    await during(1000)
    const before = nanoseconds(pid)
    const times = (await during(seconds * 1000)).sort((a, b) => a - b)
    const cpu = (nanoseconds(pid) - before) / 1000 / times.length
    const at = (part: number) => times[Math.floor(times.length * part)] ?? 0
    return { perSecond: times.length / seconds, p50: at(0.5), p99: at(0.99), cpu }
  } finally {
    await pool.destroy()
  }
}

/** Starts a SIP peer that rejects every INVITE with 486. */
const startRejectingPeer = async (): Promise<{ readonly port: number; close(): void }> => {
  const socket = createSocket('udp4')
  socket.on('message', (data, from) => {
    const text = data.toString()
    if (!text.startsWith('INVITE')) return
    const kept = text.split('\r\n').filter((line) => /^(Via|From|To|Call-ID|CSeq):/i.test(line))
    const lines = kept.map((line) => (/^To:/i.test(line) ? `${line};tag=busy` : line))
    socket.send(
      ['SIP/2.0 486 Busy Here', ...lines, 'Content-Length: 0', '', ''].join('\r\n'),
      from.port,
      from.address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { port: (socket.address() as AddressInfo).port, close: () => socket.close() }
}

const signedIn = async (url: string): Promise<{ readonly token: string; readonly address: string }> => {
  const headers = { 'content-type': 'application/json' }
  const request = { method: 'POST', headers, body: JSON.stringify(alice) }
  const { token } = (await (await fetch(`${url}/api/console/session`, request)).json()) as { token: string }
  const bearer = { headers: { authorization: `Bearer ${token}` } }
  const info = (await (await fetch(`${url}/api/fabric/subscriber/info`, bearer)).json()) as {
    readonly fabric_addresses: readonly { readonly id: string }[]
  }
  return { token, address: info.fabric_addresses[0]!.id }
}

const starts = async (subscribers: number): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-api-'))
  try {
    await started(dataDir, 'the one subscriber of the file')
    await started(dataDir, 'the same again')
    fill(join(dataDir, 'trunkline.db'), subscribers)
    await started(dataDir, `${subscribers} subscribers, SQLite`)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const started = async (dataDir: string, what: string): Promise<void> => {
  const began = performance.now()
  const gateway = await Gateway.start({ dataDir })
  const ms = performance.now() - began
  const mib = memory(family(gateway.pid)).reduce((sum, one) => sum + one.mib, 0)
  console.log(`start with ${what}: ${(ms / 1000).toFixed(1)} s to ready, ${Math.round(mib)} MiB resident`)
  await gateway.stop()
}

/** Copies the one subscriber in the database: hashing a password for each through the API would be slow. */
const fill = (file: string, count: number): void => {
  const database = new DatabaseSync(file)
  const copy = (table: string, change: Readonly<Record<string, string>>, where: string) => {
    const columns = database.prepare(`select name from pragma_table_info('${table}')`).all()
    const names = columns.map(({ name }) => String(name))
    const values = names.map((name) => change[name] ?? name)
    return database.prepare(`insert into ${table} (${names}) select ${values} from ${table} where ${where}`)
  }
  const { id } = database.prepare('select resource_id as id from subscriber').get() as { readonly id: string }
  const resource = copy('resource', { id: '?', managed_by_file: '0' }, `id = '${id}'`)
  const address = copy('address', { id: '?', resource_id: '?', name: '?' }, `resource_id = '${id}'`)
  const person = copy('subscriber', { resource_id: '?', email: '?' }, `resource_id = '${id}'`)
  const columns = database.prepare("select name from pragma_table_info('subscriber')").all()
  const emailFirst =
    columns.findIndex(({ name }) => name === 'email') <
    columns.findIndex(({ name }) => name === 'resource_id')
  database.exec('begin')
  for (let n = 0; n < count; n++) {
    const made = randomUUID()
    resource.run(made)
    address.run(randomUUID(), made, `person-${n}`)
    const email = `person-${n}@example.test`
    person.run(...(emailFirst ? [email, made] : [made, email]))
  }
  database.exec('commit')
  database.close()
}
