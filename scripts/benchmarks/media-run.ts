/** One run of `scripts/bench media`: something that relays calls, and the load on both sides of it. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SocketKind } from '../../media/edge/sockets-open.ts'
import { Load, numbers, type Run } from './media-load.ts'
import type { Answer, Leg, Request } from './media-system.ts'
import { family, memory, nanoseconds } from './processes.ts'
import { LineProgram, pinned } from './programs.ts'

/** One way to relay calls. */
export interface Way {
  readonly name: string
  /** `relay` is the C program of that name. */
  readonly by: 'relay' | SocketKind
  readonly leg: Leg
}

/** What is being measured, while it runs. */
interface System {
  readonly pid: number
  readonly worker?: number
  /** Of all its processes, for each call, in kB. */
  readonly memoryPerCall?: number
  /** Where the load is to send to. */
  readonly ports: readonly number[]
  close(): Promise<void>
}

/** A measured run. */
export interface Figures extends Run {
  readonly usPerPacket: number
  /** mediasoup's share of it. */
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

/** The programs, compiled. */
export interface Programs {
  readonly load: string
  readonly relay: string
}

/** How the load sends: for how long, and in how many steps per 20 ms. */
export interface Pace {
  readonly seconds: number
  readonly slots: number
}

/** Relays `calls` two-way calls for `seconds` after a time to settle. */
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
    // The edge's opening packets come first.
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
