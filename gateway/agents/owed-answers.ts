import type { AgentSpeech } from './agent-speech.ts'
import type { ConversationRecord } from './conversation-record.ts'
import type { EngineLink } from './engine.ts'
import type { EngineLine } from './engine-line.ts'
import type { Turns } from './turns/turns.ts'

/** Instruction for an answer that a failure of the engine has cut off. */
const continuation = 'Your last answer was cut off by a fault. Go on where it stopped, without an apology.'

/** Answers that the engine owes: those without a turn of the caller, and those that a lost session owed. */
export class OwedAnswers {
  readonly #line: EngineLine
  readonly #speech: AgentSpeech
  readonly #turns: Turns
  readonly #record: ConversationRecord
  /** Spoken part of the answer that was lost with its session; empty if it had none. */
  #lostText: string | undefined

  constructor(line: EngineLine, speech: AgentSpeech, turns: Turns, record: ConversationRecord) {
    this.#line = line
    this.#speech = speech
    this.#turns = turns
    this.#record = record
  }

  /** Asks for an answer that is no reply to the caller. */
  ask(request: (link: EngineLink) => void): void {
    this.#turns.asked()
    this.#line.do((link) => {
      this.#record.stamps.prompted()
      this.#speech.await(link)
      request(link)
    })
  }

  /** The session is lost: nothing follows of its answers. */
  lost(): void {
    const text = this.#speech.lost()
    this.#lostText = text ?? (this.#turns.isAnswerDue ? '' : this.#lostText)
  }

  /** The caller interrupted: nothing is owed. */
  drop(): void {
    this.#lostText = undefined
  }

  /** Asks the session that is in use now for what the former one owed, unless it was asked already. */
  claimFrom(present: EngineLink): void {
    const lostText = this.#lostText
    this.#lostText = undefined
    const { awaitedFrom } = this.#speech
    const isOwed = awaitedFrom !== present && (awaitedFrom !== undefined || lostText !== undefined)
    if (isOwed) this.#turns.asked()
    // Commands that wait go to the new session, too, and may ask for the answer.
    this.#line.do((link) => {
      this.#speech.giveText(link)
      if (!isOwed || this.#speech.awaitedFrom === link) return
      this.#speech.await(link)
      link.answer(lostText ? continuation : undefined)
    })
  }
}
