import { randomInt } from 'node:crypto'
import type { MediaClock } from '../clock.ts'
import type { Edge, MediaPort, PortOptions } from '../types.ts'
import { Detections } from './detections.ts'
import type { EdgeOptions } from './options.ts'
import { PortPool, shareRange } from './pool.ts'
import type { PortNumber, Report } from './protocol.ts'
import { Recordings } from './recordings.ts'
import { socketKind } from './sockets-open.ts'
import { Taps } from './taps.ts'
import { MediaThread, type ThreadData } from './thread.ts'

/** Maximum wait for the files of recordings when the edge closes, in ms. */
const maxFileWaitMs = 5000

/** Media thread with its part of the port range, its port count and its sinks. */
export interface ThreadSlot {
  readonly thread: MediaThread
  readonly pool: PortPool
  readonly recordings: Recordings
  readonly taps: Taps
  readonly detections: Detections
  ports: number
}

/** Receives reports from the threads and resolves ports. */
export interface SlotListener {
  onReport(slot: ThreadSlot, report: Report): void
  onDeath(slot: ThreadSlot, error: Error): void
  /** Returns undefined for a port that is closed or in another thread. */
  numberOf(slot: ThreadSlot, port: MediaPort): PortNumber | undefined
}

/** All threads of an edge, and the assignment of groups to threads. */
export class ThreadSlots {
  readonly all: readonly ThreadSlot[]
  #clock: MediaClock
  #total: number
  /** Thread and port count of each group. */
  #groups = new Map<string, { readonly slot: ThreadSlot; ports: number }>()

  /** `number` returns an unused number. */
  constructor(options: EdgeOptions, clock: MediaClock, number: () => number, listener: SlotListener) {
    this.#clock = clock
    const shares = shareRange(options.ports, options.threads)
    this.#total = shares.reduce((sum, share) => sum + share.length, 0)
    const data = {
      sockets: options.sockets ?? socketKind().kind,
      isRealtime: options.isRealtime ?? false,
    }
    this.all = shares.map((share) => {
      const pool = new PortPool(share, options.quarantineMs ?? 30_000, (below) => randomInt(below))
      return makeSlot(pool, data, number, listener)
    })
  }

  /** Starts all threads. Rejects if one does not start. */
  async start(): Promise<void> {
    await Promise.all(this.all.map(({ thread }) => thread.start()))
  }

  /** See `Edge.usage`. */
  usage(): ReturnType<Edge['usage']> {
    const now = this.#clock.now()
    let used = 0
    let quarantined = 0
    let reused = 0
    for (const { pool } of this.all) {
      used += pool.used
      quarantined += pool.quarantined(now)
      reused += pool.reused
    }
    return { used, total: this.#total, quarantined, reused }
  }

  /** Returns the number of open recordings, taps and detections. */
  busy(): Omit<Edge['busy'], 'mixers'> {
    let recordings = 0
    let taps = 0
    let detections = 0
    for (const slot of this.all) {
      recordings += slot.recordings.size
      taps += slot.taps.size
      detections += slot.detections.size
    }
    return { recordings, taps, detections }
  }

  /** The thread with the fewest ports. */
  get emptiest(): ThreadSlot {
    return this.all.reduce((best, next) => (next.ports < best.ports ? next : best))
  }

  /**
   * Returns the thread of a group, or for a new group the one with the most free ports, and counts a port.
   */
  enter(group: string, kind: PortOptions['kind']): ThreadSlot {
    let entry = this.#groups.get(group)
    if (!entry) {
      const now = this.#clock.now()
      const hasMore = (a: ThreadSlot, b: ThreadSlot) =>
        kind === 'carrier' ? moreRoom(a.pool, b.pool, now) : 0
      const slot = this.all.reduce((best, next) =>
        (hasMore(next, best) || best.ports - next.ports) > 0 ? next : best,
      )
      entry = { slot, ports: 0 }
      this.#groups.set(group, entry)
    }
    entry.ports++
    entry.slot.ports++
    return entry.slot
  }

  /** Removes a port from its group. */
  exit(group: string): void {
    const entry = this.#groups.get(group)
    if (!entry) return
    entry.slot.ports--
    if (--entry.ports === 0) this.#groups.delete(group)
  }

  /**
   * Ends the threads once the recordings are complete; the caller must have stopped them. Waits at most 5 s,
   * in case the disk hangs.
   */
  async close(): Promise<void> {
    const waiting = this.all.flatMap(({ recordings }) => recordings.pending)
    if (waiting.length > 0) {
      const late = Promise.withResolvers<void>()
      const timer = this.#clock.after(maxFileWaitMs, late.resolve)
      await Promise.race([Promise.all(waiting), late.promise])
      timer.cancel()
    }
    await Promise.all(this.all.map(({ thread }) => thread.close()))
    for (const slot of this.all) endAll(slot, 'the edge is closed')
  }
}

/**
 * Compares two pools. Returns a number above 0 if `a` has more free pairs than `b`, or equally many and more
 * in quarantine. Below 0 means the opposite.
 */
const moreRoom = (a: PortPool, b: PortPool, now: number): number =>
  a.free(now) - b.free(now) || a.quarantined(now) - b.quarantined(now)

/** Ends a thread's recordings, taps and detections after its death. */
export function endAll({ recordings, taps, detections }: ThreadSlot, message: string): void {
  recordings.die(message)
  taps.die()
  detections.die()
}

function makeSlot(
  pool: PortPool,
  data: ThreadData,
  number: () => number,
  listener: SlotListener,
): ThreadSlot {
  const thread: MediaThread = new MediaThread(
    {
      onReport: (report) => listener.onReport(slot, report),
      onDeath: (error) => listener.onDeath(slot, error),
    },
    data,
  )
  const numberOf = (port: MediaPort) => listener.numberOf(slot, port)
  const slot: ThreadSlot = {
    thread,
    pool,
    recordings: new Recordings((command) => thread.send(command), number, numberOf),
    taps: new Taps((command, moved) => thread.send(command, moved), number, numberOf),
    detections: new Detections((command) => thread.send(command), number),
    ports: 0,
  }
  return slot
}
