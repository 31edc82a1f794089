import type { AgentFunction, AgentModelSettings } from '../../../../handlers/verbs.ts'
import type { Clock, Timer } from '../../../core/clock.ts'
import type { EngineCall, EngineListener, EngineMessage } from '../../engine.ts'

/** Language model that does the delegated work; `Model` of the pipeline has this form. */
export interface LiveModel {
  /** Begins an answer. The listener is not called before the return. */
  answer(
    request: {
      readonly messages: readonly EngineMessage[]
      readonly functions: readonly AgentFunction[]
      readonly settings: AgentModelSettings
    },
    listener: {
      onText(piece: string): void
      onUsage(usage: { readonly inputTokens?: number; readonly outputTokens?: number }): void
      onEnd(how: 'completed' | 'incomplete', calls: readonly EngineCall[]): void
      onFailure(error: Error): void
    },
  ): { cancel(): void }
}

/** Work that the voice has delegated. */
export interface Delegation {
  readonly id: string
  /** Words of both sides, in order, and notes. The last message of the caller holds the task. */
  readonly messages: readonly EngineMessage[]
}

/** State of the conversation that the work depends on. */
export interface BackendSettings {
  prompt: string
  functions: readonly AgentFunction[]
  settings: AgentModelSettings
}

/** Collaborators of a {@link LiveBackend}. */
export interface BackendDeps {
  readonly model: LiveModel
  readonly clock: Clock
  readonly listener: Pick<
    EngineListener,
    'onAnswer' | 'onCall' | 'onCallsCancelled' | 'onAnswerEnd' | 'onUsage' | 'onWarning'
  >
  /** Delivers the result of the work. `isSpoken`: the voice speaks it; else it only learns it. */
  readonly onResult: (delegation: string, text: string, isSpoken: boolean) => void
}

/** Work in progress. */
interface Work {
  readonly id: string
  readonly messages: EngineMessage[]
  readonly open: Map<string, EngineCall>
  rounds: number
  isAnswerWanted: boolean
  results: string[]
  cancel: () => void
  timer: Timer | undefined
}

/** Maximum number of rounds of function calls for one delegation. */
const maxRounds = 10
/** Longest time of one round of the model, in ms. */
const maxRoundMs = 60_000

const note = `You do the work behind a voice that talks with the caller. Below is their conversation so far.
Do the last thing that the caller asks for, with your functions where they serve. Then write the facts for the
caller, in few plain sentences.`

/**
 * Work behind a voice that hears and speaks by itself: the model calls functions until it has a result for
 * the voice. Work goes on when the caller interrupts; each delegation gets one result.
 */
export class LiveBackend {
  readonly #deps: BackendDeps
  readonly #settings: BackendSettings
  readonly #works = new Map<string, Work>()
  readonly #callers = new Map<string, Work>()
  readonly #told = new Set<string>()
  #count = 0

  constructor(settings: BackendSettings, deps: BackendDeps) {
    this.#settings = settings
    this.#deps = deps
  }

  /** Begins work. A delegation that is known has no effect. */
  begin({ id, messages }: Delegation): void {
    if (this.#works.has(id)) return
    const work: Work = {
      id,
      messages: [...messages],
      open: new Map(),
      rounds: 0,
      isAnswerWanted: false,
      results: [],
      cancel: () => {},
      timer: undefined,
    }
    this.#works.set(id, work)
    this.#round(work)
  }

  /** Takes the result of a call. Unknown and repeated ones have no effect. */
  result(call: EngineCall, text: string, respond: boolean): void {
    const work = this.#callers.get(call.id)
    if (!work) return
    this.#callers.delete(call.id)
    work.open.delete(call.id)
    work.messages.push({ role: 'tool', callId: call.id, name: call.name, content: text })
    work.results.push(text)
    work.isAnswerWanted ||= respond
    if (work.open.size > 0) return
    if (work.isAnswerWanted) this.#round(work)
    else this.#end(work, work.results.join('\n'), false)
  }

  close(): void {
    for (const work of this.#works.values()) {
      work.cancel()
      work.timer?.cancel()
    }
    this.#works.clear()
    this.#callers.clear()
  }

  #round(work: Work): void {
    work.isAnswerWanted = false
    work.results = []
    if (work.rounds++ >= maxRounds) {
      this.#fail(work, `the model called functions more than ${maxRounds} times`)
      return
    }
    const { prompt, functions, settings } = this.#settings
    const system: EngineMessage = { role: 'system', content: `${prompt}\n\n${note}` }
    let text = ''
    const answer = this.#deps.model.answer(
      { messages: [system, ...work.messages], functions, settings },
      {
        onText: (piece) => {
          text += piece
        },
        onUsage: (usage) => this.#deps.listener.onUsage(usage),
        onEnd: (_, calls) => this.#answered(work, text.trim(), calls),
        onFailure: ({ message }) => this.#fail(work, message),
      },
    )
    work.cancel = () => answer.cancel()
    work.timer = this.#deps.clock.after(maxRoundMs, () => {
      answer.cancel()
      this.#fail(work, `the model did not answer within ${maxRoundMs} ms`)
    })
  }

  #answered(work: Work, text: string, calls: readonly EngineCall[]): void {
    work.timer?.cancel()
    if (!this.#works.has(work.id)) return
    const fresh = calls.map((call) => this.#unique(call))
    if (fresh.length === 0) {
      this.#end(work, text, true)
      return
    }
    work.messages.push({ role: 'assistant', content: text, calls: fresh })
    for (const call of fresh) {
      work.open.set(call.id, call)
      this.#callers.set(call.id, work)
    }
    // Calls belong to an answer, which has no sound of its own.
    const answer = `work-${++this.#count}`
    this.#deps.listener.onAnswer(answer)
    for (const call of fresh) this.#deps.listener.onCall(answer, call)
    this.#deps.listener.onAnswerEnd(answer, 'completed')
  }

  /** Some models count their calls from 0 in each answer. */
  #unique(call: EngineCall): EngineCall {
    const id = this.#told.has(call.id) ? `${call.id}-${this.#told.size}` : call.id
    this.#told.add(id)
    return { ...call, id }
  }

  #fail(work: Work, reason: string): void {
    if (!this.#works.has(work.id)) return
    this.#deps.listener.onWarning('engine_delegation_failed', reason)
    this.#end(work, 'That could not be done now.', true)
  }

  #end(work: Work, text: string, isSpoken: boolean): void {
    work.timer?.cancel()
    this.#works.delete(work.id)
    this.#deps.onResult(work.id, text, isSpoken)
  }
}
