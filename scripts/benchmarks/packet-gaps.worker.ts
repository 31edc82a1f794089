/**
 * Worker thread that measures the gaps between the packets of each stream that it receives. It has real-time
 * priority, so that it is not late itself.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { openBatchSockets } from '../../media/edge/sockets-batch.ts'
import { loadAddon } from '../../media/edge/sockets-open.ts'

/** Data of the worker: the number of streams. Its first message has their ports, see {@link PacketGaps}. */
export interface PacketGapsData {
  readonly streams: number
}

/** Answer to the message `end`: gaps of each stream in ms. */
export type PacketGaps = readonly (readonly number[])[]

const { streams } = workerData as PacketGapsData
const addon = loadAddon()
const { bind } = openBatchSockets(addon)
const gaps = Array.from({ length: streams }, (): number[] => [])
const sockets = await Promise.all(
  gaps.map((own) => {
    let last = Number.NaN
    return bind('127.0.0.1', 0, () => {
      const now = performance.now()
      if (last > 0) own.push(now - last)
      last = now
    })
  }),
)
parentPort?.on('message', () => parentPort?.postMessage(gaps satisfies PacketGaps))
addon.enterRealtime()
parentPort?.postMessage(sockets.map(({ port }) => port))
