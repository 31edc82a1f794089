import { Client, type Notification } from 'pg'
import type { Clock, Timer } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { News } from '../store/engine.ts'
import { clientConfig } from './pool.ts'
import { channel } from './triggers.ts'

/** Collaborators of {@link Listener}. */
export interface ListenerDeps {
  readonly url: string
  readonly clock: Pick<Clock, 'after'>
  readonly log: Pick<Log, 'info' | 'error'>
  /**
   * Returns whether one of this gateway's own database connections made a change, which memory then already
   * contains.
   */
  readonly isOwn: (processId: number) => boolean
  readonly onNews: (news: News) => void
}

/** Wait between two attempts to reconnect, in ms. */
const againMs = 1_000

/**
 * Interval of the connection checks, and maximum wait for a response, in ms. The checks detect networks that
 * drop packets without an error.
 */
const askMs = 10_000
const answerMs = 5_000

/**
 * Listener for changes in the database, on its own connection, which it reopens after a loss. It reports
 * missed changes as `anything`.
 */
export class Listener {
  readonly #deps: ListenerDeps
  #client: Client | undefined
  #timer: Timer | undefined
  #closed = false

  constructor(deps: ListenerDeps) {
    this.#deps = deps
  }

  /**
   * Opens the connection. Resolves when the listener receives every further change. Rejects if the first
   * connection fails.
   */
  async open(): Promise<void> {
    const { url, isOwn, onNews } = this.#deps
    const client = new Client(clientConfig(url))
    client.on('error', (error) => this.#lost(client, error))
    client.on('end', () => this.#lost(client))
    client.on('notification', ({ processId, payload }: Notification) => {
      if (!isOwn(processId)) onNews(newsOf(payload))
    })
    this.#client = client
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
    } catch (error) {
      this.#client = undefined
      await client.end().catch(() => {})
      throw error
    }
    if (this.#closed) await client.end()
    else this.#ask(client)
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => {})
  }

  #ask(client: Client): void {
    const { clock } = this.#deps
    this.#timer = clock.after(askMs, () => {
      this.#timer = clock.after(answerMs, () => this.#lost(client, new Error('it does not answer')))
      client.query('select 1').then(
        () => {
          if (this.#client !== client) return
          this.#timer?.cancel()
          this.#ask(client)
        },
        (error: Error) => this.#lost(client, error),
      )
    })
  }

  #lost(client: Client, error?: Error): void {
    if (this.#client !== client || this.#closed) return
    this.#client = undefined
    this.#timer?.cancel()
    this.#deps.log.error(
      { event: 'database.lost', reason: error?.message ?? 'it was closed' },
      'database connection lost, data in memory kept',
    )
    client.end().catch(() => {})
    this.#later()
  }

  #later(): void {
    this.#timer = this.#deps.clock.after(againMs, () => void this.#again())
  }

  async #again(): Promise<void> {
    try {
      await this.open()
    } catch {
      if (!this.#closed) this.#later()
      return
    }
    if (this.#closed) return
    this.#deps.log.info({ event: 'database.reconnected' }, 'database reconnected')
    this.#deps.onNews('anything')
  }
}

const newsOf = (payload = ''): News => {
  const at = payload.indexOf(':')
  return at < 0 ? 'anything' : { kind: payload.slice(0, at), id: payload.slice(at + 1) }
}
