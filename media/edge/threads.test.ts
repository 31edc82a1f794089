import { createSocket } from 'node:dgram'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { freePortRange } from '../testing/free-ports.ts'
import type { EdgeFailure } from '../types.ts'
import { createEdge, type EdgeOptions } from './edge.ts'
import { checkRealtime, realtimeObstacle, type ThreadPriority } from './realtime.ts'
import { TestClock } from './testing/test-clock.ts'

const base: EdgeOptions = {
  bind: '127.0.0.1',
  ports: await freePortRange(8),
  threads: 1,
  startTimeoutMs: 30_000,
  mediaTimeoutMs: 60_000,
  quarantineMs: 0,
}
/** First port of the second of two threads. */
const middle = base.ports.from + 4
const carrier = (group: string) => ({ group, kind: 'carrier' as const })
const loopback = (group: string) => ({ group, kind: 'loopback' as const })
const prompt = { sampleRate: 8000 as const, samples: sine(440, 1000) }

describe('real-time priority', () => {
  const permitted = checkRealtime(0)
  /** Whether a thread of this process has the policy SCHED_RR, field 41 of proc(5). */
  const isRealtime = (id: string): boolean => {
    try {
      const [, stat = ''] = readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ')
      return stat.split(' ')[38] === '2'
    } catch {
      // The thread has just ended.
      return false
    }
  }
  const realtimeThreads = (): number => readdirSync('/proc/self/task').filter(isRealtime).length

  it('is requested by each thread, also by one that replaces a dead thread, and its result is reported', async () => {
    const priorities: ThreadPriority[] = []
    const onPriority = (priority: ThreadPriority) => void priorities.push(priority)
    const edge = await createEdge({ ...base, threads: 2, isRealtime: true, onPriority })
    // A port opens when its thread has started.
    const [first] = await Promise.all(['a', 'b'].map((group) => edge.open(loopback(group))))
    expect(priorities).toEqual([permitted, permitted])
    expect(realtimeThreads()).toBe(permitted.isRealtime ? 2 : 0)
    const died = new Promise<EdgeFailure>((resolve) => edge.onFailure(resolve))
    void first?.play({ prompt: { sampleRate: 8000, samples: null as never } })
    await died
    await Promise.all(['c', 'd'].map((group) => edge.open(loopback(group))))
    expect(priorities).toEqual([permitted, permitted, permitted])
    await edge.close()
    expect(realtimeThreads()).toBe(0)
  })

  it('is not requested by default', async () => {
    const priorities: ThreadPriority[] = []
    const edge = await createEdge({ ...base, onPriority: (priority) => void priorities.push(priority) })
    await edge.open(loopback('a'))
    expect([priorities, realtimeThreads()]).toEqual([[], 0])
    await edge.close()
  })

  it.each([
    [1, 2, undefined],
    [2, 2, 'fewer media threads than cores are required, not 2 of 2'],
    [1, 1, 'fewer media threads than cores are required, not 1 of 1'],
  ])('of %s threads on %s cores has the obstacle %s', (threads, cores, reason) => {
    expect(realtimeObstacle(threads, cores)).toBe(reason)
  })
})

describe('the range of ports', () => {
  it('is used up to the last pair, and then rejects with no_ports', async () => {
    const edge = await createEdge(base)
    const ports = await Promise.all(['a', 'b', 'c', 'd'].map((group) => edge.open(carrier(group))))
    expect(ports.map(({ port }) => port).sort()).toEqual(
      [0, 2, 4, 6].map((offset) => base.ports.from + offset),
    )
    await expect(edge.open(carrier('e'))).rejects.toMatchObject({ code: 'no_ports' })
    expect(edge.usage()).toEqual({ used: 4, total: 4, quarantined: 0, reused: 0 })
    await edge.open(loopback('e'))
    await ports[1]!.close()
    expect((await edge.open(carrier('e'))).port).toBe(ports[1]!.port)
    await edge.close()
  })

  it('keeps a closed pair in quarantine, prefers another, and takes it early rather than reject', async () => {
    const clock = new TestClock()
    const ports = await freePortRange(4)
    const edge = await createEdge({ ...base, ports, quarantineMs: 30_000, clock })
    const first = await edge.open(carrier('a'))
    await first.close()
    expect(edge.usage()).toEqual({ used: 0, total: 2, quarantined: 1, reused: 0 })
    expect((await edge.open(carrier('b'))).port).not.toBe(first.port)
    const again = await edge.open(carrier('c'))
    expect(again.port).toBe(first.port)
    expect(edge.usage()).toEqual({ used: 2, total: 2, quarantined: 0, reused: 1 })
    await expect(edge.open(carrier('d'))).rejects.toMatchObject({ code: 'no_ports' })
    await again.close()
    clock.advance(30_000)
    expect((await edge.open(carrier('d'))).port).toBe(first.port)
    expect(edge.usage()).toEqual({ used: 2, total: 2, quarantined: 0, reused: 1 })
    await edge.close()
  })

  it('finds a pair in quarantine in any of its threads', async () => {
    const edge = await createEdge({
      ...base,
      ports: await freePortRange(4),
      threads: 2,
      quarantineMs: 30_000,
      clock: new TestClock(),
    })
    const a = await edge.open(carrier('a'))
    const b = await edge.open(carrier('b'))
    await a.close()
    expect((await edge.open(carrier('c'))).port).toBe(a.port)
    await b.close()
    expect((await edge.open(carrier('d'))).port).toBe(b.port)
    await edge.close()
  })

  it('skips a pair with a port that another program uses, RTP or RTCP', async () => {
    const other = createSocket('udp4')
    const ports = await freePortRange(4)
    await new Promise<void>((resolve) => other.bind(ports.from + 1, '127.0.0.1', resolve))
    const edge = await createEdge({ ...base, ports })
    expect((await edge.open(carrier('a'))).port).toBe(ports.from + 2)
    await expect(edge.open(carrier('b'))).rejects.toMatchObject({ code: 'no_ports' })
    expect(edge.usage().used).toBe(1)
    await edge.close()
    await new Promise<void>((resolve) => other.close(() => resolve()))
  })

  it.each([
    [{ bind: 'nowhere' }, /bind/],
    [{ announce: 'nowhere' }, /announce/],
    [{ threads: 0 }, /threads/],
    [{ ports: { from: 9, to: 3 } }, /ports/],
  ])('rejects %j', async (wrong, message) => {
    await expect(createEdge({ ...base, ...wrong })).rejects.toThrow(message)
  })

  it('rejects a foreign address', async () => {
    const edge = await createEdge({ ...base, bind: '192.0.2.1' })
    await expect(edge.open(carrier('a'))).rejects.toMatchObject({ code: 'failed' })
    expect([edge.usage().used, edge.portCount]).toEqual([0, 0])
    await edge.close()
  })

  it('announces the configured address, for carrier ports only', async () => {
    const edge = await createEdge({ ...base, announce: '203.0.113.9' })
    expect((await edge.open(carrier('a'))).address).toBe('203.0.113.9')
    expect((await edge.open(loopback('a'))).address).toBe('127.0.0.1')
    await edge.close()
  })
})

describe('media threads', () => {
  it('split the range, keep a group together and spread groups', async () => {
    const edge = await createEdge({ ...base, threads: 2 })
    const a = await edge.open(carrier('one'))
    const b = await edge.open(carrier('two'))
    expect([a.port < middle, b.port < middle].sort()).toEqual([false, true])
    const more = await edge.open(carrier('one'))
    expect(more.port < middle).toBe(a.port < middle)
    edge.join(a, more)
    await edge.close()
  })

  it('that die take their ports along, settle pending results, and are replaced', async () => {
    const edge = await createEdge(base)
    const failures: EdgeFailure[] = []
    const failed = new Promise<void>((resolve) =>
      edge.onFailure((failure) => {
        failures.push(failure)
        resolve()
      }),
    )
    const port = await edge.open(carrier('a'))
    const playback = port.play({ prompt })
    const digits = port.sendDigits('W')
    // Invalid samples make the thread fail as a defect would.
    port.setFar(
      { codecs: [] },
      { address: '127.0.0.1', port: 9, codec: 'PCMU', payloadType: 0, direction: 'sendrecv' },
    )
    port.play({ prompt: { sampleRate: 8000, samples: null as never } })
    await failed
    expect(failures).toHaveLength(1)
    expect(failures[0]?.ports).toEqual([port.id])
    expect([await playback.done, await digits]).toEqual(['stopped', false])
    expect((await port.close()).sent).toBe(0)
    expect([edge.portCount, edge.usage().used]).toEqual([0, 0])
    const next = await edge.open(carrier('a'))
    expect(next.port).toBeGreaterThanOrEqual(base.ports.from)
    await edge.close()
  })

  it('end with the edge, whatever is in progress', async () => {
    const edge = await createEdge(base)
    const port = await edge.open(carrier('a'))
    const opening = edge.open(carrier('b')).then(
      () => 'open',
      (error) => error.code,
    )
    const playback = port.play({ prompt })
    const closing = edge.close()
    expect(edge.close()).toBe(closing)
    await closing
    expect([await opening, await playback.done]).toEqual(['closed', 'stopped'])
    expect([edge.portCount, edge.usage().used]).toEqual([0, 0])
    await expect(edge.open(carrier('c'))).rejects.toMatchObject({ code: 'closed' })
  })
})
