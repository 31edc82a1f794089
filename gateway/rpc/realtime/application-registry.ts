import type { Clock, Timer } from '../../core/clock.ts'
import { Application, type ApplicationOptions } from './application.ts'

/** Maximum number of known applications, equal to the default limit of WebSocket connections. */
const maxApplications = 10_000

/** Known applications and their topics. */
export class ApplicationRegistry {
  readonly #nodeId: string
  readonly #clock: Clock
  readonly #graceMs: number
  readonly #onRemoved: (application: Application) => void
  readonly #applications = new Map<string, Application>()
  /** Applications by project and topic, in the order of their next offer. */
  readonly #listeners = new Map<string, Set<Application>>()
  readonly #graces = new Map<Application, Timer>()

  /**
   * `graceMs`: time that a disconnected application has to reconnect. `onRemoved` receives each application
   * that is removed.
   */
  constructor(nodeId: string, clock: Clock, graceMs: number, onRemoved: (application: Application) => void) {
    this.#nodeId = nodeId
    this.#clock = clock
    this.#graceMs = graceMs
    this.#onRemoved = onRemoved
  }

  /** Number of applications, including those that may reconnect. */
  get size(): number {
    return this.#applications.size
  }

  /** Number of calls that applications control or are offered. */
  get calls(): number {
    let calls = 0
    for (const application of this.#applications.values()) calls += application.calls.size
    return calls
  }

  /** Number of connected applications per topic over all projects, sorted by topic. */
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

  /** Creates an application; {@link add} makes it known. */
  create(options: Omit<ApplicationOptions, 'nodeId' | 'clock'>): Application {
    return new Application({ ...options, nodeId: this.#nodeId, clock: this.#clock })
  }

  /** Adds an application. Beyond 10,000, the application that has been disconnected longest is removed. */
  add(application: Application): void {
    const [longestLost] = this.#graces.keys()
    if (longestLost && this.#applications.size >= maxApplications) this.#remove(longestLost)
    this.#applications.set(application.protocol, application)
  }

  /** Cancels the removal of a reconnected application. */
  socketBack(application: Application): void {
    this.#graces.get(application)?.cancel()
    this.#graces.delete(application)
  }

  /** Schedules the removal of a disconnected application. */
  socketLost(application: Application): void {
    this.socketBack(application)
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
   * Returns the next connected application of a topic that is not in `tried`, and moves it to the end of the
   * order.
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

  /** Returns the number of connected applications that listen on a topic of a project. */
  listeners(projectId: string, topic: string): number {
    const listeners = this.#listeners.get(keyOf(projectId, topic)) ?? []
    return [...listeners].filter(({ isConnected }) => isConnected).length
  }

  /** Removes every application and ends its calls. */
  close(): void {
    for (const application of [...this.#applications.values()]) this.#remove(application)
  }

  #remove(application: Application): void {
    this.socketBack(application)
    this.#applications.delete(application.protocol)
    this.unlisten(application, application.topics)
    this.#onRemoved(application)
    application.lost()
  }
}

const keyOf = (projectId: string, topic: string): string => JSON.stringify([projectId, topic])
