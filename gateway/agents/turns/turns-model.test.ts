import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wordList } from '../text/words.ts'
import type { TurnRules } from './turn-types.ts'
import { TurnsRig } from './turns-rig.ts'

type Move = { readonly kind: string; readonly n: number }

const kinds = wordList(
  'turn,turn,turn,turn,turn,engine,engine,engine,final,final,final,voice,voice,silence,silence',
  'partial,partial,final,final,key,said,wait,wait,wait,wait,engine,engine,engine,engine,say',
  'function,result,dry,hold,unhold,began,eager,resumed,ended,wait for user,change,noise,noise',
)
const waits = [20, 240, 300, 700, 1400, 1400, 3000, 20_000]

const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 40, arbitrary: fc.constantFrom(...kinds) },
      { weight: 1, arbitrary: fc.constantFrom('leave', 'close') },
    ),
    n: fc.nat(7),
  }),
  { minLength: 1, maxLength: 80, size: 'max' },
)

const rules: fc.Arbitrary<Partial<TurnRules>> = fc.record({
  barge: fc.constantFrom('any', 'partial', 'complete', 'none'),
  bargeMinWords: fc.constantFrom(0, 0, 2),
  bargeFunctions: fc.boolean(),
  isSemantic: fc.boolean(),
  transparentBargeMs: fc.constantFrom(0, 3000),
  attentionMs: fc.constantFrom(0, 5000),
  inactivityMs: fc.constantFrom(60_000, 600_000, 600_000),
  hardStopMs: fc.constantFrom(undefined, undefined, undefined, 30_000),
  hardStopPrompt: fc.constantFrom(undefined, 'Goodbye.'),
  keyTerminators: fc.constantFrom('', '#'),
  waitForUser: fc.boolean(),
})

/** Engine and recogniser of a conversation, which keep the rules of their interfaces. */
class World {
  readonly rig: TurnsRig
  /** Answer in progress, and what of it happened. */
  answer: { readonly id: string; hasSound: boolean; isDelivered: boolean } | undefined
  /** Whether the engine owes an answer. */
  isAsked = false
  isFaded = false
  isOver = false
  isLeaving = false
  /** Turns that the history has. */
  history: string[] = []
  /** Words that must be in it once. */
  readonly counted: string[] = []
  readonly #isOurs: boolean
  readonly #isStreaming: boolean
  #utterance: string[] | undefined
  #wasOpen = true
  #recognised = 0
  #words = 0
  #function: string | undefined
  #functions = 0

  constructor(settings: Partial<TurnRules>, isStreaming: boolean) {
    this.rig = new TurnsRig(settings)
    this.#isOurs = settings.engine?.turns !== 'its' && settings.engine?.turns !== 'duplex'
    this.#isStreaming = isStreaming
  }

  get isOpen(): boolean {
    return !['held', 'leaving', 'over'].includes(this.rig.turns.state)
  }

  move({ kind, n }: Move): void {
    const { turns } = this.rig
    if (kind === 'voice') turns.voice(true, n * 10)
    else if (kind === 'silence') turns.voice(false, n * 10)
    else if (kind === 'noise') turns.noVoice()
    else if (kind === 'partial' && this.#isStreaming) this.#partial(n)
    else if (kind === 'final') this.#final(n)
    else if (kind === 'turn') {
      turns.voice(true)
      if (this.#isStreaming) this.#partial(n)
      this.#wait(100)
      turns.voice(false)
      this.#final(n)
      this.#wait(n % 2 ? 1400 : 0)
    } else if (kind === 'key') turns.key('123#'[n % 4]!)
    else if (kind === 'said') turns.said(this.#newWords(1).join(' '))
    else if (kind === 'wait') this.#wait(waits[n]!)
    else if (kind === 'engine') this.#engine(n)
    else if (kind === 'say' && !this.answer && !this.isAsked) this.#begin(n % 2 === 0)
    else if (kind === 'function' || kind === 'result') this.#call(kind, n)
    else if (kind === 'dry' && this.answer?.hasSound && !this.answer.isDelivered && !this.isFaded) {
      // The queue is empty; the next sound is reported as the first one was.
      this.answer.hasSound = false
      turns.played()
    } else if (kind === 'hold') turns.hold()
    else if (kind === 'unhold') turns.unhold()
    else if (kind === 'wait for user') turns.waitForUser(n % 2 ? 2000 : undefined)
    else if (kind === 'change') turns.change({ endOfSpeechMs: 300 + n * 100 })
    else if (kind === 'leave') this.#leave()
    else if (kind === 'close') {
      turns.close()
      this.isOver = true
    } else if (['began', 'eager', 'resumed', 'ended'].includes(kind)) turns.engineTurn(kind as 'began')
    this.check()
  }

  #leave(): void {
    this.check()
    this.isLeaving = true
    this.rig.turns.leave()
  }

  #newWords(count: number): string[] {
    const words = Array.from({ length: count }, () => `word${++this.#words}`)
    if (this.isOpen && count === 1) this.counted.push(...words)
    return words
  }

  #partial(n: number): void {
    const isNew = !this.#utterance
    this.#utterance ??= Array.from({ length: 2 + (n % 3) }, () => `word${++this.#words}`)
    this.#wasOpen = isNew ? this.isOpen : this.#wasOpen && this.isOpen
    this.#recognised = isNew ? 1 + (n % 2) : this.#recognised + (n % 2)
    this.rig.partial(this.#utterance.slice(0, this.#recognised).join(' '))
  }

  #final(n: number): void {
    if (this.#isStreaming && !this.#utterance) this.#partial(n)
    const words = this.#utterance ?? Array.from({ length: 1 + (n % 3) }, () => `word${++this.#words}`)
    if (this.isOpen && (!this.#isStreaming || this.#wasOpen)) this.counted.push(...words)
    this.#utterance = undefined
    this.rig.final(words.join(' '))
  }

  #wait(ms: number): void {
    // Steps, so that the world hears of effects before the next ones.
    for (let left = ms; left > 0; left -= 100) {
      this.rig.wait(Math.min(100, left))
      this.check()
    }
    if (this.answer?.isDelivered && !this.isFaded) this.#played()
  }

  #begin(isInterruptible: boolean): void {
    this.isAsked = false
    this.answer = { id: this.rig.answers(isInterruptible), hasSound: false, isDelivered: false }
  }

  #engine(n: number): void {
    const { turns } = this.rig
    const { answer } = this
    if (!answer && this.isAsked) {
      this.#begin(true)
      return
    }
    if (!answer) return
    if (!answer.hasSound && n !== 0 && !this.isFaded) {
      answer.hasSound = true
      turns.speechBegan(answer.id)
    } else if (!answer.isDelivered) {
      answer.isDelivered = true
      turns.answerDelivered(answer.id)
      if (!answer.hasSound) this.#played()
    } else if (!this.isFaded) this.#played()
  }

  #played(): void {
    if (this.answer?.isDelivered) this.answer = undefined
    this.rig.turns.played()
  }

  #call(kind: string, n: number): void {
    const { turns } = this.rig
    if (kind === 'function' && this.answer && !this.#function) {
      this.#function = `f${++this.#functions}`
      turns.functionBegan(this.#function)
    } else if (kind === 'result' && this.#function && !this.answer) {
      const isAnswered = n % 2 === 0
      turns.functionEnded(this.#function, isAnswered)
      this.#function = undefined
    }
  }

  /** Reads the effects, and checks that each is allowed. */
  check(): void {
    for (const effect of this.rig.effects.splice(0)) this.#checkEffect(effect)
    const { state } = this.rig.turns
    // A function that an interruption ended brings nothing; a result may bring an answer.
    if (state !== 'thinking' && state !== 'held' && state !== 'leaving' && !this.answer)
      this.isAsked &&= state === 'doubting'
    if (state !== 'over' && state !== 'held') expect(this.rig.clock.running).toBe(1)
    else expect(this.rig.clock.running).toBe(0)
    if (this.isFaded) expect(['doubting', 'held', 'over']).toContain(state)
    if (state === 'doubting') expect(this.isFaded).toBe(true)
  }

  #checkEffect(effect: string): void {
    const [name, ...rest] = effect.split(': ')
    const text = rest.join(': ')
    expect(this.isOver).toBe(false)
    if (this.isLeaving) expect(['resume', 'end', 'discard']).toContain(name)
    if (name === 'fade') {
      expect(this.isFaded).toBe(false)
      this.isFaded = true
    } else if (name === 'resume') this.isFaded = false
    else if (name === 'cut') this.#cut(text)
    else if (name === 'commit') this.#asked(text)
    else if (name === 'prompt') this.#asked(undefined)
    else if (name === 'revive answer') {
      this.answer = undefined
      this.isAsked = true
    } else if (name === 'end') {
      this.isFaded = false
      this.isOver = true
    }
  }

  #cut(text: string): void {
    this.isFaded = false
    this.answer = undefined
    this.isAsked = false
    if (text.startsWith('transparent')) this.history.pop()
  }

  #asked(text: string | undefined): void {
    if (this.#isOurs) {
      expect(this.answer).toBeUndefined()
      expect(this.isAsked).toBe(false)
    }
    this.isAsked = true
    if (text !== undefined) this.history.push(text)
  }

  /** Lets everything come to its end. */
  finish(): void {
    this.rig.turns.unhold()
    this.rig.turns.voice(false)
    this.check()
    if (this.#utterance && this.#wasOpen) this.#final(0)
    let quiet = 0
    for (let i = 0; i < 400 && quiet < 10 && !this.isOver; i++) {
      quiet = this.rig.turns.state === 'listening' ? quiet + 1 : 0
      this.#engine(1)
      this.check()
      this.#wait(200)
      if (this.#function) this.#call('result', 1)
      this.check()
    }
  }
}

const run = (settings: Partial<TurnRules>, isStreaming: boolean, schedule: readonly Move[]): World => {
  const world = new World(settings, isStreaming)
  for (const move of schedule) if (!world.isOver) world.move(move)
  world.finish()
  expect(world.rig.turns.state).not.toBe('doubting')
  expect(world.isFaded && !world.isOver).toBe(false)
  world.rig.turns.close()
  world.rig.effects.splice(0)
  world.rig.says('nothing more').wait(700_000)
  expect(world.rig.effects).toEqual([])
  return world
}

describe('turns, for any order of inputs', () => {
  it('keep their promises, and report each final text once', () => {
    fc.assert(
      fc.property(rules, fc.boolean(), moves, (settings, isStreaming, schedule) => {
        const world = run(settings, isStreaming, schedule)
        const words = world.history.join(' ').split(' ')
        const repeated = words.filter((word, i) => word.startsWith('word') && words.indexOf(word) !== i)
        expect(repeated).toEqual([])
        if (world.isOver) return
        expect(world.counted.filter((word) => !words.includes(word))).toEqual([])
      }),
      { numRuns: 300 },
    )
  }, 30_000)

  it.each(['its', 'duplex'] as const)('keep their promises with engines whose turns are %s', (turns) => {
    fc.assert(
      fc.property(rules, moves, (settings, schedule) => {
        run({ ...settings, engine: { turns, cut: 'truncate' } }, true, schedule)
      }),
      { numRuns: 100 },
    )
  })
})
