import type { EngineCall } from '../../engine.ts'

/** Item of speech in an answer. */
export interface SpokenItem {
  readonly id: string
  readonly contentIndex: number
  /** Samples of audio that were received. */
  samples: number
  isEnded: boolean
}

/** Function call that an answer contains. */
export interface WantedCall {
  readonly itemId: string | undefined
  readonly call: EngineCall
  /** Whether its arguments are complete. */
  isComplete: boolean
}

/** Answer of the server. */
export interface BookedResponse {
  readonly id: string
  readonly items: Map<string, SpokenItem>
  /** Calls by their id. */
  readonly calls: Map<string, WantedCall>
  hasContent: boolean
  /** Whether it has audio or text. */
  isSpoken: boolean
  /** Earliest end of its audio, as uptime in ms: it is heard from the first piece on, without a pause. */
  lastsUntil: number
  /** Whether its events are dropped: it was cancelled or interrupted. */
  isDiscarded: boolean
  isDone: boolean
}

/** Calls of one answer that have no result yet. */
interface CallGroup {
  readonly open: Set<string>
  isAnswerWanted: boolean
}

/** Number of answers that are remembered, for late events and positions heard. */
const maxResponses = 32
/** Number of calls that are remembered. */
const maxCalls = 1_000

/** Memory of the answers of a session: their items and calls. */
export class ResponseBook {
  readonly #responses = new Map<string, BookedResponse>()
  readonly #groups = new Map<string, CallGroup>()
  readonly #told = new Set<string>()

  get(id: string): BookedResponse | undefined {
    return this.#responses.get(id)
  }

  /** Answers that were begun after another one, in order. */
  after({ id }: BookedResponse): readonly BookedResponse[] {
    const all = [...this.#responses.values()]
    return all.slice(all.findIndex((each) => each.id === id) + 1)
  }

  /** The first answer whose audio lasts beyond an uptime in ms, and that was not cancelled; or undefined. */
  lastingAt(uptime: number): BookedResponse | undefined {
    return [...this.#responses.values()].find(
      ({ isDiscarded, lastsUntil }) => !isDiscarded && lastsUntil > uptime,
    )
  }

  /** Whether the result of a call is awaited. */
  isOpen(callId: string): boolean {
    return this.#groups.has(callId)
  }

  add(id: string): BookedResponse {
    const response: BookedResponse = {
      id,
      items: new Map(),
      calls: new Map(),
      hasContent: false,
      isSpoken: false,
      lastsUntil: 0,
      isDiscarded: false,
      isDone: false,
    }
    this.#responses.set(id, response)
    for (const old of this.#responses.keys()) {
      if (this.#responses.size <= maxResponses) break
      this.#responses.delete(old)
    }
    return response
  }

  /**
   * Takes the complete calls of an answer, each once in a session, and waits for their results.
   */
  takeCalls({ calls }: BookedResponse): readonly EngineCall[] {
    const complete = [...calls.values()]
      .filter(({ isComplete, call }) => isComplete && !this.#told.has(call.id))
      .map(({ call }) => call)
    const group: CallGroup = { open: new Set(complete.map(({ id }) => id)), isAnswerWanted: false }
    for (const { id } of complete) {
      this.#told.add(id)
      this.#groups.set(id, group)
    }
    for (const old of this.#told) {
      if (this.#told.size <= maxCalls) break
      this.#told.delete(old)
    }
    return complete
  }

  /**
   * Notes the result of a call. Returns undefined if no result is awaited. Else it returns whether the
   * model answers now: all calls of the answer have results, and one of them asks for it.
   */
  result(callId: string, isAnswerWanted: boolean): boolean | undefined {
    const group = this.#groups.get(callId)
    if (!group) return undefined
    this.#groups.delete(callId)
    group.open.delete(callId)
    group.isAnswerWanted ||= isAnswerWanted
    return group.isAnswerWanted && group.open.size === 0
  }
}
