import { usualTurns } from '../../../handlers/common/usual-turns.ts'
import { FakeClock } from '../../core/clock.ts'
import type { Heard } from './caller-speech.ts'
import type { CallerTurn, TurnActor, TurnRules } from './turn-types.ts'
import { Turns } from './turns.ts'

/** Rules of tests: those of a document, for any recognition, without prompts in a silence. */
export const defaultRules: TurnRules = {
  ...usualTurns,
  engine: { turns: 'ours', cut: 'truncate' },
  waitForUser: false,
  confidence: 0,
  attentionMs: 0,
}

/** Turns of a test, with a record of all effects as `effect: value`. */
export class TurnsRig {
  readonly clock = new FakeClock(1_000_000)
  readonly effects: string[] = []
  readonly commits: CallerTurn[] = []
  readonly turns: Turns
  #answers = 0

  constructor(rules: Partial<TurnRules> = {}) {
    this.turns = new Turns({ ...defaultRules, ...rules }, this.#actor(), this.clock)
  }

  #actor(): TurnActor {
    const note = (effect: string) => this.effects.push(effect)
    return {
      fade: () => note('fade'),
      resume: () => note('resume'),
      cut: (how, text) => note(`cut: ${how} ${text}`),
      prepare: (text) => note(`prepare: ${text}`),
      discard: () => note('discard'),
      commit: (turn) => {
        this.commits.push(turn)
        note(`commit: ${turn.text}`)
      },
      overheard: (turn) => note(`overheard: ${turn.text}`),
      prompt: (text, reason) => note(`prompt: ${reason} ${text}`),
      filler: (when) => note(`filler: ${when}`),
      partial: (text, isBarge) => (isBarge ? note(`barge: ${text}`) : undefined),
      reviveHearing: () => note('revive hearing'),
      reviveAnswer: () => note('revive answer'),
      end: (reason) => note(`end: ${reason}`),
    }
  }

  /** Effects since the last call, without preparations and fillers. */
  get news(): string[] {
    const quiet = ['prepare', 'discard', 'filler', 'barge']
    return this.effects.splice(0).filter((effect) => !quiet.includes(effect.split(':')[0]!))
  }

  wait(ms: number): this {
    this.clock.advance(ms)
    return this
  }

  final(text: string, more: Partial<Heard> = {}): this {
    this.turns.heard({ text, isFinal: true, ...more })
    return this
  }

  partial(text: string): this {
    this.turns.heard({ text, isFinal: false })
    return this
  }

  /** Voice for a time; the detector reports its end without delay. */
  sound(ms: number): this {
    this.turns.voice(true)
    this.clock.advance(ms)
    this.turns.voice(false)
    return this
  }

  /** The caller says a text, and its final recognition follows the end of its voice at once. */
  says(text: string, ms = 1000): this {
    return this.sound(ms).final(text)
  }

  /** The agent begins to speak an answer; returns its name. */
  speaks(isInterruptible = true): string {
    const answer = this.answers(isInterruptible)
    this.turns.speechBegan(answer)
    return answer
  }

  /** The engine begins an answer; returns its name. */
  answers(isInterruptible = true): string {
    const answer = `a${++this.#answers}`
    this.turns.answerBegan(answer, isInterruptible)
    return answer
  }

  /** Everything of an answer is delivered and heard. */
  heardAll(answer: string): this {
    this.turns.answerDelivered(answer)
    this.turns.played()
    return this
  }
}
