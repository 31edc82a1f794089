import type { Timers } from '../common/timers.ts'
import { JobFailed } from '../script/sandbox/job-threads.ts'
import { checkDocument, type DocumentKind, type DocumentReport } from './check-document.ts'
import type { DocumentReader } from './reader.ts'

/**
 * Maximum length of a document that is checked in the current thread, in characters. The worst documents of
 * this length take about three milliseconds. The limit is lower than for calls, because one client can send a
 * hundred documents per second.
 */
export const maxCheckedInline = 512

/**
 * Error of a document that was not checked. `project`: too many documents of its project are waiting.
 * `gateway`: too many documents of all projects are waiting, the wait timed out, or no thread is available.
 */
export class CheckRejected extends Error {
  readonly reason: 'project' | 'gateway'

  constructor(reason: 'project' | 'gateway') {
    super(`the document was not checked: too many documents of the ${reason} wait`)
    this.name = 'CheckRejected'
    this.reason = reason
  }
}

/** Limits of the documents that wait to be checked. */
export interface CheckLimits {
  /** Maximum number of waiting documents of one project; default 100. */
  readonly maxWaitingOfProject: number
  /** Maximum number of waiting documents of all projects; default 500. */
  readonly maxWaiting: number
  /** Maximum wait of a document, in milliseconds; default 10 s. */
  readonly maxWaitMs: number
}

const defaultLimits: CheckLimits = { maxWaitingOfProject: 100, maxWaiting: 500, maxWaitMs: 10_000 }

interface Check {
  readonly kind: DocumentKind
  readonly text: string
  readonly resolve: (report: DocumentReport) => void
  readonly reject: (error: unknown) => void
  timer?: { cancel(): void }
}

/**
 * Checks documents of API requests in the threads of a {@link DocumentReader}. Projects take turns with one
 * document each. One document is checked at a time, so that a thread remains for the documents of calls.
 */
export class DocumentChecks {
  readonly #reader: Pick<DocumentReader, 'check'>
  readonly #timers: Timers
  readonly #limits: CheckLimits
  /** Waiting documents by project. The first project is next. */
  readonly #queues = new Map<string, Check[]>()
  #waiting = 0
  #isChecking = false

  constructor(reader: Pick<DocumentReader, 'check'>, timers: Timers, limits: CheckLimits = defaultLimits) {
    this.#reader = reader
    this.#timers = timers
    this.#limits = limits
  }

  /** Number of waiting documents. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Checks a document as {@link checkDocument} does; documents of at most {@link maxCheckedInline} characters
   * in the current thread. Rejects with {@link CheckRejected}.
   */
  async check(projectId: string, kind: DocumentKind, text: string): Promise<DocumentReport> {
    if (text.length <= maxCheckedInline) return checkDocument(kind, text)
    const own = this.#queues.get(projectId)?.length ?? 0
    if (own >= this.#limits.maxWaitingOfProject) throw new CheckRejected('project')
    if (this.#waiting >= this.#limits.maxWaiting && !this.#displace(own + 1))
      throw new CheckRejected('gateway')
    return new Promise((resolve, reject) => {
      this.#add(projectId, { kind, text, resolve, reject })
      this.#next()
    })
  }

  #add(projectId: string, check: Check): void {
    const queue = this.#queues.get(projectId) ?? []
    this.#queues.set(projectId, queue)
    queue.push(check)
    this.#waiting += 1
    check.timer = this.#timers.after(this.#limits.maxWaitMs, () => this.#reject(projectId, check))
  }

  /**
   * Rejects the last document of the longest queue if that queue is longer than `length`. Returns whether it
   * did.
   */
  #displace(length: number): boolean {
    const [projectId, queue] = [...this.#queues].reduce((longest, each) =>
      each[1].length > longest[1].length ? each : longest,
    )
    const last = queue.at(-1)
    if (!last || queue.length <= length) return false
    this.#reject(projectId, last)
    return true
  }

  #reject(projectId: string, check: Check): void {
    this.#take(projectId, check)
    check.reject(new CheckRejected('gateway'))
  }

  /** Removes a document from the queue of its project. */
  #take(projectId: string, check: Check): void {
    const queue = this.#queues.get(projectId) ?? []
    const rest = queue.filter((each) => each !== check)
    if (rest.length > 0) this.#queues.set(projectId, rest)
    else this.#queues.delete(projectId)
    this.#waiting -= queue.length - rest.length
    check.timer?.cancel()
  }

  #next(): void {
    if (this.#isChecking) return
    const [projectId, queue] = this.#queues.entries().next().value ?? []
    const check = queue?.[0]
    if (projectId === undefined || !check) return
    this.#take(projectId, check)
    this.#endTurn(projectId)
    this.#isChecking = true
    void this.#run(check)
  }

  /** Moves a project behind all other waiting projects. */
  #endTurn(projectId: string): void {
    const queue = this.#queues.get(projectId)
    if (!queue) return
    this.#queues.delete(projectId)
    this.#queues.set(projectId, queue)
  }

  async #run({ kind, text, resolve, reject }: Check): Promise<void> {
    try {
      resolve(await this.#reader.check(kind, text))
    } catch (error) {
      reject(error instanceof JobFailed ? new CheckRejected('gateway') : error)
    } finally {
      this.#isChecking = false
      this.#next()
    }
  }
}
