import { describe, expect, it } from 'vitest'
import { ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine, type FakeLink } from './testing/fake-engine.ts'

const minute = 60_000
/** Time in which a new session is ready, and in which the model begins to answer, in ms. */
const openingMs = 300
const modelMs = 200
const stepMs = 100
const answerMs = 3000
const endOfSpeechMs = 700

/** Call of 70 minutes with an engine whose sessions last for 20 minutes at most. */
class LongCall {
  readonly engine: FakeEngine
  readonly rig: ConversationRig
  /** Times in ms from the decided end of a turn to the first sound of its answer. */
  readonly gaps: number[] = []
  readonly #openings = new Map<FakeLink, number>()
  #turns = 0

  constructor(changes: boolean) {
    this.engine = new FakeEngine('limited', { longestMs: 20 * minute, changes })
    this.rig = new ConversationRig([this.engine], { turns: { inactivityMs: 0 } })
  }

  /** Session that hears the caller. */
  get link(): FakeLink {
    return this.engine.links.find(({ isClosed }) => !isClosed)!
  }

  get now(): number {
    return this.rig.clock.now()
  }

  async passes(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      for (const link of this.engine.links) {
        if (!this.#openings.has(link)) this.#openings.set(link, this.now)
        if (this.now - this.#openings.get(link)! === openingMs) link.listener.onReady()
      }
      await this.rig.passes(stepMs)
    }
  }

  /** The caller asks, and the session that has the turn answers. */
  async turn(): Promise<void> {
    const number = ++this.#turns
    this.rig.voice(true)
    await this.passes(500)
    this.link.listener.onHeard({ text: `Question ${number}.`, isFinal: true })
    this.rig.voice(false)
    const endedAt = this.now
    const asks = this.#asks
    for (let i = 0; i < 50 && this.#asks === asks; i++) await this.passes(stepMs)
    await this.passes(modelMs)
    this.link.answers(`a${number}`, `Answer ${number}.`, answerMs)
    this.rig.tap.plays()
    this.gaps.push(this.now - endedAt - endOfSpeechMs - modelMs)
    await this.passes(answerMs)
    this.rig.tap.playsAll()
    await this.passes(4000 + 100 * (number % 13))
  }

  /** Number of answers that all sessions were asked for. */
  get #asks(): number {
    return this.engine.links.reduce((sum, link) => sum + link.commandsOf('commit', 'answer').length, 0)
  }
}

describe('Call of 70 minutes with three session limits', () => {
  it.each([true, false])(
    'has no gap, and keeps its history (sessions that change: %s)',
    async (changes) => {
      const call = new LongCall(changes)
      await call.passes(1000)
      const { rig, engine } = call
      const beganAt = call.now
      while (call.now - beganAt < 70 * minute) await call.turn()
      expect(engine.links).toHaveLength(4)
      expect(engine.links.filter(({ isClosed }) => isClosed)).toHaveLength(3)
      expect(Math.max(...call.gaps)).toBeLessThanOrEqual(400)
      const answers = rig.eventsOf('answer')
      expect(answers).toHaveLength(call.gaps.length)
      expect(answers.every(({ isBarged, heard, spoken }) => !isBarged && heard === spoken)).toBe(true)
      expect(rig.eventsOf('warning')).toEqual([])
      // The last session knows everything: from its begin, as messages, or as its own turns.
      const { request, commands } = call.link
      const known = [
        ...request.history.map(({ content }) => content),
        ...commands.filter(([name]) => name === 'message').map(([, , content]) => content),
      ]
      const own = answers.length - known.filter((text) => String(text).startsWith('Question')).length
      expect(known).toEqual(
        Array.from({ length: answers.length - own }, (_, i) => [
          `Question ${i + 1}.`,
          `Answer ${i + 1}.`,
        ]).flat(),
      )
      expect(call.link.commandsOf('commit')).toHaveLength(own)
    },
    30_000,
  )
})
