/** `scripts/bench busy`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { sine } from '../../media/codecs/tone.ts'
import { createEdge } from '../../media/edge/edge.ts'
import { checkRealtime } from '../../media/edge/realtime.ts'
import { freePortRange } from '../../media/testing/free-ports.ts'
import type { Edge } from '../../media/types.ts'
import type { PacketGaps, PacketGapsData } from './packet-gaps.worker.ts'

/** Gaps above this are audible, in ms: a jitter buffer of three packets is empty. */
const audibleMs = 60
/** Endless loops for each core: programs, and the same number of threads beside the media threads. */
const loads = [0, 1, 3]
const priorities = [
  { name: 'normal', isRealtime: false },
  { name: 'real-time', isRealtime: true },
]

/**
 * Prints the gaps between the packets that a media thread sends while other programs and threads use every
 * core, with normal and with real-time priority. Both threads run at the same time. `seconds` of each load.
 */
export const busy = async (seconds = 20): Promise<void> => {
  const priority = checkRealtime(1)
  if (!priority.isRealtime) return console.log(`skipped: no real-time priority: ${priority.reason}`)
  console.log('loops per core  priority     packets  p50 ms  p99 ms  longest ms  above 60 ms')
  for (const load of loads) {
    const gaps = await measured(load, seconds)
    for (const [index, { name }] of priorities.entries()) console.log(row(load, name, gaps[index] ?? []))
  }
}

const measured = async (load: number, seconds: number): Promise<PacketGaps> => {
  const data: PacketGapsData = { streams: priorities.length }
  const receiver = new Worker(new URL('./packet-gaps.worker.ts', import.meta.url), { workerData: data })
  const [ports] = (await once(receiver, 'message')) as [readonly number[]]
  const edges: Edge[] = []
  const programs: ChildProcess[] = []
  const threads: Worker[] = []
  try {
    for (const [index, { isRealtime }] of priorities.entries())
      edges.push(await playing(isRealtime, ports[index] ?? 0))
    for (let count = load * availableParallelism(); count > 0; count--) {
      programs.push(endlessProgram())
      threads.push(new Worker(endlessLoop, { eval: true }))
    }
    await sleep(seconds * 1000)
    receiver.postMessage('end')
    const [gaps] = (await once(receiver, 'message')) as [PacketGaps]
    return gaps
  } finally {
    for (const program of programs) program.kill('SIGKILL')
    await Promise.all([receiver, ...threads].map((thread) => thread.terminate()))
    await Promise.all(edges.map((edge) => edge.close()))
  }
}

/** Starts an edge with a port that plays a tone to a local port. */
const playing = async (isRealtime: boolean, to: number): Promise<Edge> => {
  const edge = await createEdge({
    bind: '127.0.0.1',
    ports: await freePortRange(2),
    threads: 1,
    startTimeoutMs: 3_600_000,
    mediaTimeoutMs: 3_600_000,
    isRealtime,
  })
  const port = await edge.open({ group: 'busy', kind: 'carrier' })
  port.play({ prompt: { sampleRate: 8000, samples: sine(440, 1000) }, loop: 0 })
  const audio = { codec: 'PCMU', payloadType: 0 } as const
  const far = { address: '127.0.0.1', port: to, rtcpMux: true, direction: 'sendrecv', ...audio } as const
  port.setFar({ codecs: [audio] }, far)
  return edge
}

const endlessLoop = 'for (;;);'

/** A session of its own, as services have: Linux can share the CPU by session. */
const endlessProgram = (): ChildProcess =>
  spawn(process.execPath, ['-e', endlessLoop], { stdio: 'ignore', detached: true })

const row = (load: number, priority: string, gaps: readonly number[]): string => {
  const sorted = gaps.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1)
  const audible = sorted.filter((gap) => gap > audibleMs).length
  return [
    String(load).padStart(14),
    ` ${priority.padEnd(10)}`,
    String(gaps.length).padStart(8),
    at(0.5).padStart(7),
    at(0.99).padStart(7),
    at(1).padStart(11),
    String(audible).padStart(12),
  ].join(' ')
}
