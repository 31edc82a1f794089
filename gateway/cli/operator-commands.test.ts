import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ReloadSignal } from '../app/shutdown.ts'
import { takeDataFolder } from '../cluster/data-folder.ts'
import { FakeClock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { createLog } from '../core/log.ts'
import type { CallBody } from '../operator/call-list.ts'
import type { MessageBody, TraceBody } from '../operator/call-trace.ts'
import { type ControlRequest, ControlSocket } from '../operator/control-socket.ts'
import type { CallChanges, EndedCallBody } from '../operator/operator.ts'
import type { StatusBody } from '../operator/status.ts'
import { drainGateway } from './act-command.ts'
import { runCommand } from './command-line.ts'
import { followCalls } from './follow-command.ts'
import { pcapOf } from './pcap.ts'

let folder: string
let file: string
let control: ControlSocket | undefined
let printed: { out: string; err: string }

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-operator-'))
  file = join(folder, 'x.yaml')
  writeFileSync(file, 'dataDir: .')
  printed = { out: '', err: '' }
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.out += String(text)
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed.err += String(text)
    return true
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await control?.close()
  control = undefined
  rmSync(folder, { recursive: true })
})

/** Opens the control socket of a gateway with these requests. */
const gateway = async (requests: Readonly<Record<string, ControlRequest>>): Promise<void> => {
  const log = createLog({ level: 'silent', pretty: false })
  control = await ControlSocket.open({ dataDir: folder, requests, clock: new FakeClock(), log })
}

const run = (...args: string[]) => runCommand(new ReloadSignal(), args)

const status: StatusBody = {
  health: 'degraded',
  problems: ['carrier acme is down'],
  version: '1.2.3',
  started_at: '2026-01-01T00:00:00.000Z',
  uptime_seconds: 7_380,
  state: 'running',
  calls: { in_progress: 2, legs: 4, limit: 1_000 },
  listeners: { sip: ['udp/192.0.2.1:5060'], http: ['http://localhost:8080/'] },
  carriers: [
    {
      name: 'acme',
      state: 'down',
      calls: 1,
      registration: 'rejected',
      targets: [
        {
          uri: 'sip:a.example',
          state: 'down',
          since: '01:00',
          last_ping: { at: '2026-01-01T02:00:00.000Z', status: null, problem: 'timeout' },
        },
      ],
    },
    { name: 'beta', state: 'unknown', calls: 0, registration: null, targets: [] },
  ],
  registrations: 3,
  browsers: { connected: 2, subscribers_online: 1 },
  store: { name: 'SQLite in /data', writable: true },
  certificates: [{ name: 'https', expires_in_days: 364 }],
  bans: 0,
  refusals: 5,
}

const draining: StatusBody = { ...status, state: 'draining' }

const call: CallBody = {
  id: 'd8526ce3-396e-45f0-8733-e3e1bd260a8d',
  project_id: 'demo',
  direction: 'inbound',
  from: 'sip:+15551230001@carrier.test',
  to: 'sip:any\u001b[2Jthing@127.0.0.1',
  state: 'in-progress',
  started_at: '2026-01-01T00:00:00.000Z',
  answered_at: null,
  seconds: 245,
  codecs: ['PCMU'],
  carriers: [],
  handler: 'menu',
}

const message = (text: string, more: Partial<MessageBody> = {}): MessageBody => ({
  at: '2026-01-01T10:00:00.250Z',
  direction: 'received',
  transport: 'udp',
  local: '192.0.2.1:5060',
  remote: '192.0.2.9:5070',
  sip_call_id: 'c-1',
  text,
  ...more,
})

const trace: TraceBody = {
  call: { id: call.id, from: 'sip:a@b', to: 'sip:c@d' },
  sip_call_ids: ['c-1'],
  messages: [
    message('INVITE sip:c@d SIP/2.0\r\nCall-ID: c-1\r\nSubject: \u001b[2J\r\n\r\nv=0\r\n'),
    message('INVITE sip:c@e SIP/2.0\r\nCall-ID: c-2\r\n\r\n', {
      direction: 'sent',
      remote: '[2001:db8::7]:5060',
    }),
    message('SIP/2.0 200 OK\r\nCSeq: 1 INVITE\r\n\r\n', { direction: 'sent' }),
  ],
}

describe('every command', () => {
  it.each([['status'], ['calls'], ['refusals'], ['drain'], ['hangup', 'abcd'], ['trace', 'abcd']])(
    '%s ends with 3 without a gateway, and with 2 with a broken file',
    async (...command) => {
      expect(await run(...command, file)).toBe(3)
      expect(printed.err).toContain(`No gateway runs with the data folder ${folder}`)
      writeFileSync(file, 'dataDir: [')
      expect(await run(...command, file)).toBe(2)
      expect(printed.out).toBe('')
    },
  )

  it('ends with 1 if the gateway is another version', async () => {
    await gateway({})
    expect(await run('status', file)).toBe(1)
    expect(printed.err).toContain('another version')
  })
})

describe('status', () => {
  it('prints the state, and ends with 1 if it is degraded', async () => {
    await gateway({ status: async () => status })
    expect(await run('status', file)).toBe(1)
    expect(printed.out).toBe(`Trunkline 1.2.3: degraded, running for 2 h 3 min
  ! carrier acme is down
  calls         2 of 1000, 4 legs
  carriers      acme down  1 call  registration rejected  sip:a.example down since 01:00 (timeout)
                beta unknown  0 calls
  SIP           udp/192.0.2.1:5060
  HTTP          http://localhost:8080/
  phones        3 registered contacts
  browsers      2 connected, 1 subscriber online
  store         SQLite in /data
  certificates  https: 364 days
  shield        0 banned addresses
  refusals      5; see trunkline refusals
`)
  })

  it('ends with 0 if the gateway is healthy, and prints JSON', async () => {
    await gateway({ status: async () => ({ ...status, health: 'healthy' }) })
    expect(await run('status', '--json', file)).toBe(0)
    expect(JSON.parse(printed.out)).toEqual({ ...status, health: 'healthy' })
  })
})

describe('calls', () => {
  it('prints a table in which a caller cannot forge anything', async () => {
    await gateway({ calls: async () => ({ calls: [call] }) })
    expect(await run('calls', file)).toBe(0)
    expect(printed.out).toBe(
      'CALL      FROM          TO                           STATE        TIME       CODEC  CARRIER  HANDLER\n' +
        'd8526ce3  +15551230001  any\\u001b[2Jthing@127.0.0.1  in-progress  4 min 5 s  PCMU   -        menu\n',
    )
  })

  it('prints the calls in progress alone as JSON', async () => {
    await gateway({ calls: async () => ({ calls: [call], ended: [], last_ended: 7 }) })
    expect(await run('calls', '--json', file)).toBe(0)
    expect(JSON.parse(printed.out)).toEqual({ calls: [call] })
  })

  it('says that no call is in progress', async () => {
    await gateway({ calls: async () => ({ calls: [] }) })
    await run('calls', file)
    expect(printed.out).toBe('No calls in progress.\n')
  })
})

describe('calls --follow', () => {
  const body = (id: string, more: Partial<CallBody> = {}): CallBody => ({
    ...call,
    id,
    to: 'sip:b@x',
    ...more,
  })
  const ended = (id: string, more: Partial<EndedCallBody> = {}): EndedCallBody => ({
    id,
    from: call.from,
    to: 'sip:b@x',
    started_at: '2026-01-01T00:00:00.000Z',
    answered_at: null,
    ended_at: '2026-01-01T00:00:03.300Z',
    code: 'normal',
    ...more,
  })

  /** Follows the calls of a gateway that answers with these changes, and stops after the last one. */
  const follow = async (json: boolean, ...changes: readonly Pick<CallChanges, 'calls' | 'ended'>[]) => {
    const clock = new FakeClock()
    const stopping = new AbortController()
    const asked: unknown[] = []
    await gateway({
      calls: async ({ ended_after: after }) => {
        const { [asked.length]: change } = changes
        asked.push(after)
        return { ...change, last_ended: asked.length }
      },
    })
    const code = followCalls(file, { json, clock, stopping: stopping.signal })
    for (let poll = 1; poll < changes.length; poll++) {
      await vi.waitFor(() => expect(clock.running).toBe(1))
      clock.advance(1_000)
    }
    await vi.waitFor(() => expect([asked.length, clock.running]).toEqual([changes.length, 1]))
    stopping.abort()
    expect([await code, clock.running]).toEqual([0, 0])
    return asked
  }

  it('prints a line when a call starts, is answered and ends, until it is stopped', async () => {
    const ringing = body('aaaaaaaa-1', { answered_at: null })
    const answered = body('aaaaaaaa-1', { answered_at: '2026-01-01T00:00:01.000Z' })
    const short = ended('bbbbbbbb-2', { from: 'sip:ann\u001b[2J@x', code: 'busy' })
    const over = ended('aaaaaaaa-1', { answered_at: answered.answered_at })
    const asked = await follow(
      false,
      { calls: [ringing], ended: [] },
      { calls: [answered], ended: [] },
      { calls: [answered], ended: [short] },
      { calls: [], ended: [over] },
    )
    expect(asked).toEqual([undefined, 1, 2, 3])
    expect(printed.out.replaceAll(/^\d\d:\d\d:/gm, '')).toBe(`00  aaaaaaaa  started   +15551230001 → b@x
01  aaaaaaaa  answered  +15551230001 → b@x
00  bbbbbbbb  started   ann\\u001b[2J@x → b@x
03  bbbbbbbb  ended     ann\\u001b[2J@x → b@x  3.3 s  busy
03  aaaaaaaa  ended     +15551230001 → b@x  3.3 s  normal
`)
  })

  it('prints one object per line for programs, in the order of the times', async () => {
    const older = ended('aaaaaaaa-1', { ended_at: '2026-01-01T00:00:09.000Z' })
    await follow(true, { calls: [], ended: [] }, { calls: [], ended: [older, ended('bbbbbbbb-2')] })
    const lines = printed.out.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'started', call: 'aaaaaaaa-1' },
      { event: 'started', call: 'bbbbbbbb-2' },
      { event: 'ended', call: 'bbbbbbbb-2', code: 'normal', seconds: 3.3 },
      { event: 'ended', call: 'aaaaaaaa-1', at: '2026-01-01T00:00:09.000Z', from: call.from, seconds: 9 },
    ])
  })

  it('ends with 3 when the gateway has stopped', async () => {
    const clock = new FakeClock()
    await gateway({ calls: async () => ({ calls: [], ended: [], last_ended: 0 }) })
    const code = followCalls(file, { json: false, clock, stopping: new AbortController().signal })
    await vi.waitFor(() => expect(clock.running).toBe(1))
    await control?.close()
    clock.advance(1_000)
    expect(await code).toBe(3)
    expect(printed.err).toContain('No gateway runs')
  })
})

it('refusals prints the codes and the facts', async () => {
  const refusal = {
    at: '2026-01-01T00:00:00.000Z',
    code: 'unknown_domain',
    status: 404,
    source: '192.0.2.7',
    domain: 'x',
  }
  await gateway({ refusals: async () => ({ refusals: [refusal] }) })
  expect(await run('refusals', file)).toBe(0)
  expect(printed.out).toContain('2026-01-01T00:00:00.000Z  192.0.2.7  404     unknown_domain  domain=x\n')
})

describe('hangup', () => {
  it('sends the id and the reason', async () => {
    const asked: unknown[] = []
    await gateway({
      hangup: async (fields) => {
        asked.push(fields)
        return { hung_up: call.id }
      },
    })
    expect(await run('hangup', 'd852', '--reason', 'busy', file)).toBe(0)
    expect(asked).toEqual([{ command: 'hangup', call: 'd852', reason: 'busy' }])
    expect(printed.out).toBe(`Call ${call.id} is hung up.\n`)
  })

  it('ends with 1 for an unknown call, and with 2 for an unknown reason', async () => {
    await gateway({ hangup: () => Promise.reject(new TrunklineError('unknown_call', 'No such call.')) })
    expect(await run('hangup', 'd852', file)).toBe(1)
    expect(printed.err).toBe('No such call.\n')
    expect(await run('hangup', 'd852', '--reason', 'bored', file)).toBe(2)
  })
})

describe('drain', () => {
  it('prints the number of calls until the gateway ends', async () => {
    const clock = new FakeClock()
    const counts = [2, 1, 1]
    const asked: unknown[] = []
    const running = takeDataFolder(folder)
    await gateway({
      drain: async (fields) => {
        asked.push(fields)
        return { calls: 2 }
      },
      status: async () => ({ ...draining, calls: { ...status.calls, in_progress: counts.shift() } }),
    })
    const drained = drainGateway(file, { graceMs: 60_000, json: false }, clock)
    while (counts.length > 0) {
      await vi.waitFor(() => expect(clock.running).toBe(1))
      clock.advance(1_000)
      await vi.waitFor(() => expect(clock.running).toBe(1))
    }
    await control?.close()
    // The gateway has closed its control socket, and still runs.
    clock.advance(1_000)
    await vi.waitFor(() => expect(clock.running).toBe(1))
    running.release()
    clock.advance(1_000)
    expect(await drained).toBe(0)
    expect(asked).toEqual([{ command: 'drain', timeout_ms: 60_000 }])
    expect(printed.out).toBe(
      'Draining: 2 calls in progress.\nDraining: 1 call in progress.\nThe gateway has ended its calls and stopped.\n',
    )
  })

  it('goes on while the gateway gives no answer', async () => {
    const clock = new FakeClock()
    const running = takeDataFolder(folder)
    const answers = [() => Promise.reject(new Error('busy')), () => Promise.resolve({ ...draining })]
    await gateway({
      drain: async () => ({ calls: 0 }),
      status: () => answers.shift()?.() ?? Promise.reject(new Error('busy')),
    })
    const drained = drainGateway(file, { graceMs: undefined, json: true }, clock)
    for (let poll = 0; poll < 3; poll++) {
      await vi.waitFor(() => expect(clock.running).toBe(1))
      clock.advance(1_000)
    }
    await vi.waitFor(() => expect(clock.running).toBe(1))
    running.release()
    clock.advance(1_000)
    expect(await drained).toBe(0)
    expect(
      printed.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([{ calls: 0 }, { calls: 2 }, { drained: true }])
  })

  it('fails if the gateway was started again', async () => {
    const clock = new FakeClock()
    await gateway({ drain: async () => ({ calls: 0 }), status: async () => ({ ...status }) })
    const drained = drainGateway(file, { graceMs: undefined, json: false }, clock)
    await vi.waitFor(() => expect(clock.running).toBe(1))
    clock.advance(1_000)
    expect(await drained).toBe(1)
    expect(printed.err).toBe('The gateway runs without draining: it was started again.\n')
  })

  it.each(['soon', '5', '-1s', '1d'])('rejects the time %s', async (text) => {
    expect(await run('drain', `--timeout=${text}`, file)).toBe(2)
    expect(printed.err).toContain("option '--timeout' must be a duration")
  })
})

describe('trace', () => {
  it('prints the ladder, then the messages without control characters', async () => {
    await gateway({ trace: async () => trace })
    expect(await run('trace', 'd852', file)).toBe(0)
    const [title, , heading, ...rungs] = printed.out.split('\n')
    expect(title).toBe(`Call ${call.id}: sip:a@b → sip:c@d`)
    expect(heading?.trim().split(/ {2,}/)).toEqual(['192.0.2.9:5070', 'Trunkline', '[2001:db8::7]:5060'])
    expect(rungs.slice(0, 3)).toEqual([
      '10:00:00.250                │───────── INVITE ─────────▶│                           │',
      '10:00:00.250                │                           │───────── INVITE ─────────▶│',
      '10:00:00.250                │◀──── 200 OK (INVITE) ─────│                           │',
    ])
    expect(printed.out).toContain(
      'received from 192.0.2.9:5070 at 192.0.2.1:5060 over udp\n    INVITE sip:c@d SIP/2.0\n',
    )
    expect(printed.out).not.toContain('\u001b')
    expect(await run('trace', '--ladder', 'd852', file)).toBe(0)
  })

  it('says why there are no messages', async () => {
    await gateway({ trace: async () => ({ ...trace, messages: [] }) })
    await run('trace', 'd852', file)
    expect(printed.out).toContain('No SIP messages in memory')
  })

  it('writes a packet capture that only the user may read', async () => {
    await gateway({ trace: async () => trace })
    const path = join(folder, 'call.pcap')
    expect(await run('trace', 'd852', '--pcap', path, file)).toBe(0)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path).readUInt32LE(0)).toBe(0xa1_b2_c3_d4)
    expect(printed.out).toBe('')
  })
})

/** Returns the one's complement sum of bytes, which is 0xffff over data with a right checksum. */
const sum = (bytes: Buffer): number => {
  let total = 0
  for (let at = 0; at < bytes.length; at += 2) total += (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)
  while (total > 0xffff) total = (total & 0xffff) + (total >>> 16)
  return total
}

describe('a packet capture', () => {
  it('has IPv4 and UDP headers with right lengths and checksums', () => {
    const bytes = pcapOf([message('OPTIONS x', { local: '192.0.2.1:5060', remote: '192.0.2.9:5070' })])
    const record = bytes.subarray(24, 40)
    const packet = bytes.subarray(40)
    expect([record.readUInt32LE(0), record.readUInt32LE(4)]).toEqual([1_767_261_600, 250_000])
    expect(record.readUInt32LE(8)).toBe(packet.length)
    expect(packet.readUInt16BE(2)).toBe(packet.length)
    expect([...packet.subarray(12, 20)]).toEqual([192, 0, 2, 9, 192, 0, 2, 1])
    expect([packet.readUInt16BE(20), packet.readUInt16BE(22), packet.readUInt16BE(24)]).toEqual([
      5070, 5060, 17,
    ])
    expect(packet.subarray(28).toString()).toBe('OPTIONS x')
    expect(sum(packet.subarray(0, 20))).toBe(0xffff)
    expect(
      sum(Buffer.concat([packet.subarray(12, 20), Buffer.from([0, 17, 0, 17]), packet.subarray(20)])),
    ).toBe(0xffff)
  })

  it('has IPv6 headers', () => {
    const ends = {
      direction: 'sent',
      local: '[2001:db8::1]:5060',
      remote: '[::ffff:192.0.2.9]:5061',
    } as const
    const packet = pcapOf([message('x', ends)]).subarray(40)
    expect(packet[0]).toBe(0x60)
    expect(packet.subarray(8, 24).toString('hex')).toBe('20010db8000000000000000000000001')
    expect(packet.subarray(24, 40).toString('hex')).toBe('00000000000000000000ffffc0000209')
    expect(packet.readUInt16BE(42)).toBe(5061)
    expect(
      sum(Buffer.concat([packet.subarray(8, 40), Buffer.from([0, 17, 0, 9]), packet.subarray(40)])),
    ).toBe(0xffff)
  })
})
