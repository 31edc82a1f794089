import type { Clock, Timer } from '../../core/clock.ts'
import type { Application } from './application.ts'

/** As many as WebSockets can be open. */
const maxApplications = 10_000

/** Which applications there are, and who listens on what. */
export class ApplicationRegistry {
  readonly #clock: Clock
  readonly #graceMs: number
  readonly #applications = new Map<string, Application>()
  /** Listeners of a topic of a project, in the order in which they are offered calls. */
  readonly #listeners = new Map<string, Set<Application>>()
  readonly #graces = new Map<Application, Timer>()

  /** `graceMs`: how long an application that lost its connection is waited for. */
  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock
    this.#graceMs = graceMs
  }

  /** Applications that are known, connected or waited for. */
  get size(): number {
    return this.#applications.size
  }

  /** Calls that applications drive or are offered. */
  get calls(): number {
    let calls = 0
    for (const application of this.#applications.values()) calls += application.calls.size
    return calls
  }

  /** Connected listeners of each topic, over all projects, in the alphabetical order of topics. */
  get online(): readonly (readonly [topic: string, listeners: number])[] {
    const counts = new Map<string, number>()
    for (const application of this.#applications.values())
      if (application.isConnected)
        for (const topic of application.topics) counts.set(topic, (counts.get(topic) ?? 0) + 1)
    return [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  find(protocol: string): Application | undefined {
    return this.#applications.get(protocol)
  }

  /** Beyond 10,000, the one that was lost first is forgotten. */
  add(application: Application): void {
    const [longestLost] = this.#graces.keys()
    if (longestLost && this.#applications.size >= maxApplications) this.#remove(longestLost)
    this.#applications.set(application.protocol, application)
  }

  /** It is connected again. */
  back(application: Application): void {
    this.#graces.get(application)?.cancel()
    this.#graces.delete(application)
  }

  /** It lost its connection; it is forgotten after the grace time. */
  lost(application: Application): void {
    this.back(application)
    const timer = this.#clock.after(this.#graceMs, () => this.#remove(application))
    this.#graces.set(application, timer)
  }

  listen(application: Application, topics: readonly string[]): void {
    for (const topic of topics) {
      application.topics.add(topic)
      const key = keyOf(application.projectId, topic)
      this.#listeners.set(key, (this.#listeners.get(key) ?? new Set()).add(application))
    }
  }

  unlisten(application: Application, topics: Iterable<string>): void {
    for (const topic of [...topics]) {
      application.topics.delete(topic)
      const key = keyOf(application.projectId, topic)
      const listeners = this.#listeners.get(key)
      listeners?.delete(application)
      if (listeners?.size === 0) this.#listeners.delete(key)
    }
  }

  /**
   * Whose turn it is among those who listen, are connected and were not `tried`; it goes to the end of the
   * line.
   */
  next(projectId: string, topic: string, tried: ReadonlySet<Application>): Application | undefined {
    const listeners = this.#listeners.get(keyOf(projectId, topic))
    if (!listeners) return undefined
    for (const application of listeners) {
      if (!application.isConnected || tried.has(application)) continue
      listeners.delete(application)
      listeners.add(application)
      return application
    }
    return undefined
  }

  /** Forgets every application; their calls end. */
  close(): void {
    for (const application of [...this.#applications.values()]) this.#remove(application)
  }

  #remove(application: Application): void {
    this.back(application)
    this.#applications.delete(application.protocol)
    this.unlisten(application, application.topics)
    application.lost()
  }
}

const keyOf = (projectId: string, topic: string): string => JSON.stringify([projectId, topic])
