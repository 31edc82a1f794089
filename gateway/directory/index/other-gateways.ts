import type { Clock, Timer } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { News } from '../engine.ts'
import type { Changed } from './memory.ts'
import type { Refresh } from './refresh.ts'

/** Wait before everything is read because something could not be. */
const againMs = 1_000

/** What {@link OtherGateways} work with. */
export interface OtherGatewaysParts {
  readonly refresh: Pick<Refresh, 'changed' | 'everything'>
  readonly clock: Pick<Clock, 'after'>
  readonly log: Pick<Log, 'error'>
}

/**
 * Reads into memory what other gateways on the store have changed, and passes it on to who wants to know. Where that fails, it reads everything,
 * until it can: a token that another gateway has taken back is not to be good here for ever.
 */
export class OtherGateways {
  readonly #parts: OtherGatewaysParts
  readonly #listeners: ((news: News) => Promise<void> | void)[] = []
  #timer: Timer | undefined
  #closed = false

  constructor(parts: OtherGatewaysParts) {
    this.#parts = parts
  }

  /** Who wants to know; one that rejects is told that it was anything, later. */
  on(listener: (news: News) => Promise<void> | void): void {
    this.#listeners.push(listener)
  }

  take(news: News): void {
    this.#take(news).catch((error: unknown) => {
      if (this.#closed) return
      this.#parts.log.error({ err: error }, 'what changed elsewhere could not be read yet')
      this.missed()
    })
  }

  /** A change was not read, or nobody knows whether there is one. */
  missed(): void {
    if (this.#closed || this.#timer) return
    this.#timer = this.#parts.clock.after(againMs, () => {
      this.#timer = undefined
      this.take('anything')
    })
  }

  /** Idempotent. */
  close(): void {
    this.#closed = true
    this.#timer?.cancel()
  }

  async #take(news: News): Promise<void> {
    const { refresh } = this.#parts
    await (news === 'anything' ? refresh.everything() : refresh.changed(changedBy(news)))
    await Promise.all(this.#listeners.map(async (listener) => listener(news)))
  }
}

const changedBy = ({ kind, id }: Exclude<News, 'anything'>): Changed => {
  switch (kind) {
    case 'resource':
      return { resources: [id] }
    case 'domain':
      return { domains: [id] }
    case 'carrier':
      return { carriers: true }
    case 'project':
      return { projects: true }
    default:
      return {}
  }
}
