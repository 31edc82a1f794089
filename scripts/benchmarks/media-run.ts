/** One run of `scripts/bench media`: a relay of calls with the load on both sides. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SocketKind } from '../../media/edge/sockets-open.ts'
import { Load, numbers, type Run } from './media-load.ts'
import type { Answer, Leg, Request } from './media-system.ts'
import { family, memory, nanoseconds } from './processes.ts'
import { LineProgram, pinned } from './programs.ts'

/** Relay and kind of leg to measure. */
export interface Way {
  readonly name: string
  /** Relay: sockets of the media edge, or the C program `relay`. */
  readonly by: 'relay' | SocketKind
  readonly leg: Leg
}

/** Running system under test. */
interface System {
  readonly pid: number
  readonly worker?: number
  /** Memory of all its processes per call, in kB. */
  readonly memoryPerCall?: number
  /** Destination ports of the load. */
  readonly ports: readonly number[]
  close(): Promise<void>
}

/** Figures of a measured run. */
export interface Figures extends Run {
  readonly usPerPacket: number
  /** Share of mediasoup's worker. */
  readonly workerUsPerPacket: number
  readonly memoryPerCall?: number
}

const settleMs = 2_000
const encrypted = (leg: Leg): boolean => leg === 'sdes' || leg === 'browser'

const startRelay = async (program: string, load: Load): Promise<System> => {
  const relay = new LineProgram('system', [program, String(load.ports.length)])
  const ports = numbers(await relay.line())
  relay.say(load.ports.join(' '))
  return { pid: relay.pid, ports, close: () => relay.close() }
}

const startEdge = async (leg: Leg, sockets: SocketKind, load: Load): Promise<System> => {
  const [program, words] = pinned('system', [process.execPath, ...process.execArgv])
  const script = new URL('./media-system.ts', import.meta.url).pathname
  const child = fork(script, [], { execPath: program, execArgv: words, stdio: 'inherit' })
  child.send({ leg, sockets, ports: load.ports } satisfies Request)
  await once(child, 'message')
  const pid = child.pid ?? 0
  const resident = () => memory(family(pid)).reduce((sum, { mib }) => sum + mib, 0)
  await sleep(500)
  const before = resident()
  child.send('go')
  const [{ ports, worker }] = (await once(child, 'message')) as [Answer]
  const memoryPerCall = ((resident() - before) * 1024 * 2) / ports.length
  const close = async () => {
    const gone = once(child, 'exit')
    child.disconnect()
    await gone
  }
  return { pid, ports, memoryPerCall, close, ...(worker !== undefined && { worker }) }
}

/** Paths of the compiled programs. */
export interface Programs {
  readonly load: string
  readonly relay: string
}

/** Duration of the load, and its number of steps per 20 ms. */
export interface Pace {
  readonly seconds: number
  readonly slots: number
}

/** Relays two-way calls for `seconds` after a settling time, and returns the figures. */
export const measure = async (
  programs: Programs,
  way: Way,
  calls: number,
  { seconds, slots }: Pace,
): Promise<Figures> => {
  const ms = settleMs + seconds * 1000
  const load = await Load.open(programs.load, calls, slots, encrypted(way.leg) ? ms : undefined)
  const system =
    way.by === 'relay' ? await startRelay(programs.relay, load) : await startEdge(way.leg, way.by, load)
  try {
    load.aim(system.ports)
    // The edge sends opening packets first.
    await sleep(500)
    const running = load.run(settleMs, seconds * 1000)
    await sleep(settleMs)
    const processes = system.worker ? [system.pid, system.worker] : [system.pid]
    const before = processes.map(nanoseconds)
    const began = performance.now()
    await sleep(seconds * 1000 - 200)
    const used = processes.map((pid, i) => (nanoseconds(pid) - before[i]!) / 1000)
    const took = performance.now() - began
    const run = await running
    const relayed = (run.received / ms) * took
    const [own = 0, worker = 0] = used.map((us) => us / relayed)
    const { memoryPerCall } = system
    return {
      ...run,
      usPerPacket: own + worker,
      workerUsPerPacket: worker,
      ...(memoryPerCall !== undefined && { memoryPerCall }),
    }
  } finally {
    await system.close()
    await load.close()
  }
}
