import { randomUUID } from 'node:crypto'
import type { StatusCallback } from '../../handlers/handler.ts'
import type { Metrics } from '../core/metrics.ts'
import { type CallbackFrom, serverOf } from './callback-row.ts'
import type { CustomerHttp } from './customer-http.ts'

/** Collaborators of {@link BestEffortCallbacks}. */
export interface BestEffortDeps {
  readonly http: Pick<CustomerHttp, 'deliver'>
  readonly metrics: Pick<Metrics, 'callbacks'>
}

/** Maximum number of callbacks that wait in all, and for one call and server. */
const maxWaiting = 10_000
const maxOfLane = 500
/** Maximum length of waiting bodies in characters: in all, for one project, and for one call and server. */
const maxCharacters = 16_000_000
const maxCharactersOfProject = 4_000_000
const maxCharactersOfLane = 1_000_000

interface Waiting {
  readonly from: CallbackFrom
  readonly callback: StatusCallback
  readonly characters: number
}

/** Callbacks of one call to one server, which are sent one after the other. */
interface Lane {
  readonly waiting: Waiting[]
  characters: number
}

/**
 * Callbacks that are sent once, in order, from memory only: such as events for debugging. One that fails, or
 * for which there is no room, is dropped with a metric. So none of them takes room from stored callbacks.
 */
export class BestEffortCallbacks {
  readonly #deps: BestEffortDeps
  readonly #lanes = new Map<string, Lane>()
  /** Characters that wait, by project. */
  readonly #ofProjects = new Map<string, number>()
  #waiting = 0
  #characters = 0
  #closed = false

  constructor(deps: BestEffortDeps) {
    this.#deps = deps
  }

  /** Number of callbacks that wait, or are being sent. */
  get waiting(): number {
    return this.#waiting
  }

  /** Sends a callback after the earlier ones of its call to the same server. Never throws. */
  add(from: CallbackFrom, callback: StatusCallback): void {
    const key = `${from.callId} ${serverOf(callback.url)}`
    const characters = callback.body?.text.length ?? 0
    const lane = this.#lanes.get(key)
    if (this.#closed || !this.#hasRoom(from.projectId, lane, characters)) {
      this.#report(callback, 'dropped')
      return
    }
    this.#waiting++
    this.#count(from.projectId, characters)
    const open = lane ?? { waiting: [], characters: 0 }
    open.waiting.push({ from, callback, characters })
    open.characters += characters
    if (lane) return
    this.#lanes.set(key, open)
    void this.#send(key, open)
  }

  /** Drops everything that waits. Idempotent. */
  close(): void {
    this.#closed = true
    // The first one of each lane is being sent.
    for (const lane of this.#lanes.values())
      for (const dropped of lane.waiting.splice(1)) {
        this.#left(lane, dropped)
        this.#report(dropped.callback, 'dropped')
      }
  }

  #hasRoom(projectId: string, lane: Lane | undefined, characters: number): boolean {
    if (this.#waiting >= maxWaiting || this.#characters + characters > maxCharacters) return false
    if ((this.#ofProjects.get(projectId) ?? 0) + characters > maxCharactersOfProject) return false
    if (!lane) return true
    return lane.waiting.length < maxOfLane && lane.characters + characters <= maxCharactersOfLane
  }

  /** Sends the callbacks of a lane until none waits. */
  async #send(key: string, lane: Lane): Promise<void> {
    for (let next = lane.waiting[0]; next; next = lane.waiting[0]) {
      const { from, callback } = next
      const { url, method, body } = callback
      const request = { url, method, ...(body && { body }) }
      const ids = { projectId: from.projectId, id: randomUUID() }
      const status = await this.#deps.http.deliver(request, ids).catch(() => undefined)
      const isDelivered = status !== undefined && status >= 200 && status < 300
      this.#report(callback, isDelivered ? 'delivered' : 'given-up')
      lane.waiting.shift()
      this.#left(lane, next)
    }
    this.#lanes.delete(key)
  }

  #left(lane: Lane, { from, characters }: Waiting): void {
    lane.characters -= characters
    this.#count(from.projectId, -characters)
    this.#waiting--
  }

  #count(projectId: string, characters: number): void {
    this.#characters += characters
    const ofProject = (this.#ofProjects.get(projectId) ?? 0) + characters
    if (ofProject > 0) this.#ofProjects.set(projectId, ofProject)
    else this.#ofProjects.delete(projectId)
  }

  #report({ kind }: StatusCallback, outcome: string): void {
    this.#deps.metrics.callbacks.inc({ kind, outcome })
  }
}
