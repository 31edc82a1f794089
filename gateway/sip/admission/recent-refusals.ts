import type { Code } from '../../core/errors/catalogue.ts'

/** Code of a rejection by the embedded SIP agent itself, for example of a malformed request. */
export const agentCode = 'sip_agent'

/** A request that was rejected before it became a call. */
export interface RecentRefusal {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly code: Code | typeof agentCode
  /** SIP status of the response. */
  readonly status: number
  /** Checked facts: source, transport, domain, parties and limits. They hold no secret. */
  readonly facts: Readonly<Record<string, unknown>>
}

/** Maximum number of rejections in memory, of one source and of all sources. */
const maxKept = { source: 20, all: 500 }

/**
 * The latest rejections, for the operator. A single source cannot replace those of all others. Rejections by
 * the SIP agent, some of which are usual in every network, are the first to be replaced.
 */
export class RecentRefusals {
  readonly #kept: RecentRefusal[] = []
  readonly #bySource = new Map<string, number>()

  /** Number of rejections in memory. */
  get size(): number {
    return this.#kept.length
  }

  /** Rejections, the latest first. */
  get latest(): readonly RecentRefusal[] {
    return this.#kept.toReversed()
  }

  /** Keeps a rejection in place of the oldest one of its source, or of all sources. */
  add(refusal: RecentRefusal): void {
    const source = sourceOf(refusal)
    const ofSource = this.#bySource.get(source) ?? 0
    if (ofSource >= maxKept.source) this.#remove(this.#kept.findIndex((each) => sourceOf(each) === source))
    else if (this.#kept.length >= maxKept.all)
      // Without rejections by the agent, the oldest one of all goes.
      this.#remove(
        Math.max(
          0,
          this.#kept.findIndex(({ code }) => code === agentCode),
        ),
      )
    this.#kept.push(refusal)
    this.#bySource.set(source, (this.#bySource.get(source) ?? 0) + 1)
  }

  #remove(at: number): void {
    const [removed] = this.#kept.splice(at, 1)
    if (!removed) return
    const source = sourceOf(removed)
    const left = (this.#bySource.get(source) ?? 1) - 1
    if (left > 0) this.#bySource.set(source, left)
    else this.#bySource.delete(source)
  }
}

const sourceOf = ({ code, facts }: RecentRefusal): string =>
  `${code === agentCode ? `${agentCode} ` : ''}${facts.source}`
