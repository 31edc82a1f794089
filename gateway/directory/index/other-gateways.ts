import type { Clock, Timer } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { News } from '../store/engine.ts'
import type { Changed } from './memory.ts'
import type { Refresh } from './refresh.ts'

/** Wait in ms between a failed reading and the next attempt. */
const againMs = 1_000

/** Collaborators of {@link OtherGateways}. */
export interface OtherGatewaysDeps {
  readonly refresh: Pick<Refresh, 'changed' | 'everything'>
  readonly clock: Pick<Clock, 'after'>
  readonly log: Pick<Log, 'error'>
}

/**
 * Reads the changes of other gateways into memory, and notifies listeners. After a failure it reads
 * everything until it succeeds: a token revoked by another gateway must not stay valid here.
 */
export class OtherGateways {
  readonly #deps: OtherGatewaysDeps
  readonly #listeners: ((news: News) => Promise<void> | void)[] = []
  #timer: Timer | undefined
  #closed = false

  constructor(deps: OtherGatewaysDeps) {
    this.#deps = deps
  }

  /** Adds a listener. A listener that rejects is later notified of `anything`. */
  on(listener: (news: News) => Promise<void> | void): void {
    this.#listeners.push(listener)
  }

  take(news: News): void {
    this.#take(news).catch((error: unknown) => {
      if (this.#closed) return
      this.#deps.log.error(
        { event: 'directory.refresh-failed', err: error },
        'changes by other gateways not read, will be retried',
      )
      this.missed()
    })
  }

  /** Reads everything again, after a change that could not be read or notifications that were missed. */
  missed(): void {
    if (this.#closed || this.#timer) return
    this.#timer = this.#deps.clock.after(againMs, () => {
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
    const { refresh } = this.#deps
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
