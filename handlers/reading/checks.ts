import { checkDocument, type DocumentKind, type DocumentReport } from '../check.ts'
import { JobFailed, type Timers } from '../script/sandbox/job-threads.ts'
import type { DocumentReader } from './reader.ts'

/**
 * Maximum length of a document that is checked at once, in characters. The worst documents of this size take some
 * three milliseconds. It is less than for calls, because one client can send a hundred documents per second.
 */
export const maxCheckedInline = 512

/**
 * A document that was not checked. `project`: too many documents of its project wait. `gateway`: those of all
 * projects are too many, the wait was too long, or there is no thread.
 */
export class CheckRefused extends Error {
  readonly reason: 'project' | 'gateway'

  constructor(reason: 'project' | 'gateway') {
    super(`the document was not checked: too many documents of the ${reason} wait`)
    this.name = 'CheckRefused'
    this.reason = reason
  }
}

/** Bounds of the documents that wait to be checked. */
export interface CheckLimits {
  /** Maximum number of documents of one project that wait; default 100. */
  readonly maxWaitingOfProject: number
  /** Maximum number of documents of all projects that wait; default 500. */
  readonly maxWaiting: number
  /** Maximum time that a document waits for its turn, in milliseconds; default 10 s. */
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
 * Checks documents that are sent to the API, in the threads of a {@link DocumentReader}. Projects have their turns,
 * one document each. Only one document is checked at a time, so that a thread remains for the documents of calls.
 */
export class DocumentChecks {
  readonly #reader: Pick<DocumentReader, 'check'>
  readonly #timers: Timers
  readonly #limits: CheckLimits
  /** Documents that wait, by project. The first project has the next turn. */
  readonly #queues = new Map<string, Check[]>()
  #waiting = 0
  #isChecking = false

  constructor(reader: Pick<DocumentReader, 'check'>, timers: Timers, limits: CheckLimits = defaultLimits) {
    this.#reader = reader
    this.#timers = timers
    this.#limits = limits
  }

  /** Number of documents that wait for their turn. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Checks a document without running it, with the report of {@link checkDocument}. Documents of at most
   * {@link maxCheckedInline} characters are checked at once. Rejects with {@link CheckRefused}.
   */
  async check(projectId: string, kind: DocumentKind, text: string): Promise<DocumentReport> {
    if (text.length <= maxCheckedInline) return checkDocument(kind, text)
    const own = this.#queues.get(projectId)?.length ?? 0
    if (own >= this.#limits.maxWaitingOfProject) throw new CheckRefused('project')
    if (this.#waiting >= this.#limits.maxWaiting && !this.#displaced(own + 1))
      throw new CheckRefused('gateway')
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
    check.timer = this.#timers.after(this.#limits.maxWaitMs, () => this.#refuse(projectId, check))
  }

  /** Refuses the last document of the longest queue, if that is longer than `length`. Returns whether it is. */
  #displaced(length: number): boolean {
    const [projectId, queue] = [...this.#queues].reduce((most, each) =>
      each[1].length > most[1].length ? each : most,
    )
    const last = queue.at(-1)
    if (!last || queue.length <= length) return false
    this.#refuse(projectId, last)
    return true
  }

  #refuse(projectId: string, check: Check): void {
    this.#take(projectId, check)
    check.reject(new CheckRefused('gateway'))
  }

  /** Takes a document out of the queue of its project. */
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

  /** Moves a project behind all others that wait. */
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
      reject(error instanceof JobFailed ? new CheckRefused('gateway') : error)
    } finally {
      this.#isChecking = false
      this.#next()
    }
  }
}
