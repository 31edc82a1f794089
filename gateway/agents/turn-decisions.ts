import type { AgentSpeech } from './agent-speech.ts'
import type { ConversationRecord } from './conversation-record.ts'
import type { EngineLine } from './engine-line.ts'
import type { CallerTurn, CutKind, TurnActor, TurnEnd } from './turns/turn-types.ts'

/** Effects of the turns on everything but the engine and the agent's speech. */
export interface DecisionHost {
  /** A turn of the caller is complete. */
  onTurn(turn: CallerTurn): void
  /** The agent's speech is being dropped. */
  onCut(): void
  /** An interruption is carried out in the engine; the session is about to learn of it. */
  onInterruption(how: CutKind): void
  filler(when: 'thinking' | 'dictation'): void
  /** Words of the caller were recognised. */
  onWords(): void
  /** Opens the engine, or its hearing, again. */
  revive(part: 'hearing' | 'answer'): void
  end(reason: TurnEnd): void
}

/** Carries out the decisions of the turns, in the engine and in the agent's speech. */
export class TurnDecisions implements TurnActor {
  readonly #engine: EngineLine
  readonly #speech: AgentSpeech
  readonly #record: ConversationRecord
  readonly #host: DecisionHost

  constructor(engine: EngineLine, speech: AgentSpeech, record: ConversationRecord, host: DecisionHost) {
    this.#engine = engine
    this.#speech = speech
    this.#record = record
    this.#host = host
  }

  fade(): void {
    this.#speech.pause()
  }

  resume(): void {
    this.#speech.resume()
  }

  cut(how: CutKind, text: string, by?: CallerTurn['by']): void {
    this.#host.onCut()
    this.#engine.doAfter(this.#speech.cut(), (link, answers) => {
      this.#host.onInterruption(how)
      const heardMs = this.#speech.heardMs(answers)
      link.interrupt(this.#speech.positionOf(answers), how === 'transparent')
      this.#speech.closeCut(answers, how)
      this.#record.emit({ kind: 'barge', how, heardMs, text, ...(by && { by }) })
    })
  }

  prepare(text: string): void {
    this.#engine.do((link) => link.prepare(text))
  }

  discard(): void {
    this.#engine.do((link) => link.discard?.())
  }

  commit(turn: CallerTurn): void {
    this.#host.onTurn(turn)
    this.#engine.do((link) => {
      this.#record.userTurn(turn)
      const isEngines = link.abilities.turns !== 'ours'
      if (isEngines && turn.by === 'speech') return
      this.#speech.await(link)
      if (turn.instruction !== undefined) link.message({ role: 'system', content: turn.instruction }, false)
      if (isEngines) link.message({ role: 'user', content: turn.text }, true)
      else link.commit(turn.text)
    })
  }

  overheard(turn: CallerTurn): void {
    this.#engine.do((link) => {
      this.#record.userTurn(turn)
      if (link.abilities.turns === 'ours') link.message({ role: 'user', content: turn.text }, false)
    })
  }

  prompt(instruction: string, reason: 'attention' | 'limit' | 'interrupted'): void {
    if (reason === 'attention') this.#record.emit({ kind: 'attention' })
    this.#record.stamps.prompted()
    this.#engine.do((link) => {
      this.#speech.await(link)
      link.answer(instruction)
    })
  }

  filler(when: 'thinking' | 'dictation'): void {
    this.#host.filler(when)
  }

  partial(text: string, isBarge: boolean): void {
    if (text !== '') this.#host.onWords()
    this.#record.emit({ kind: 'partial', text, isBarge })
  }

  reviveHearing(): void {
    this.#host.revive('hearing')
  }

  reviveAnswer(): void {
    this.#host.revive('answer')
  }

  end(reason: TurnEnd): void {
    this.#host.end(reason)
  }
}
