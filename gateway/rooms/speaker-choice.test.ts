import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { SpeakerChoice } from './speaker-choice.ts'

/** Voice after which the mixer reports talking and speech, and silence after which it reports the end. */
const onMs = 200
const speechMs = 440
const offMs = 700

class Bench {
  readonly clock = new FakeClock()
  /** Speakers that voice or time chose, with the ms since the start. */
  readonly switches: (readonly [at: number, speaker: string | undefined])[] = []
  /** Candidates that began to talk. */
  readonly expected: string[] = []
  readonly choice: SpeakerChoice
  readonly #startedAt = this.clock.now()

  constructor(...candidates: string[]) {
    this.choice = new SpeakerChoice({
      clock: this.clock,
      onChange: () => this.switches.push([this.clock.now() - this.#startedAt, this.speaker]),
      onExpected: (id) => this.expected.push(id),
    })
    this.choice.setCandidates(candidates)
  }

  get speaker(): string | undefined {
    return this.choice.recent[0]
  }

  /** Lets a member speak, as the mixer reports it: from now for some ms, with the pause after it. */
  speak(id: string, ms: number): void {
    if (ms < onMs) return
    this.clock.after(onMs, () => this.choice.setTalking(id, true, false))
    if (ms > speechMs) this.clock.after(speechMs, () => this.choice.setTalking(id, true))
    this.clock.after(ms, () => this.choice.setTalking(id, true, false))
    this.clock.after(ms + offMs, () => this.choice.setTalking(id, false))
  }
}

describe('the speaker', () => {
  it('is the first candidate until another one speaks', () => {
    const bench = new Bench('A', 'B', 'C')
    expect(bench.speaker).toBe('A')
    expect(bench.choice.other).toBe('B')
    expect(new Bench().speaker).toBeUndefined()
    expect(new Bench().choice.other).toBeUndefined()
  })

  it('changes 0.44 s after the first syllable', () => {
    const bench = new Bench('A', 'B', 'C')
    bench.speak('C', 3000)
    bench.clock.advance(439)
    expect(bench.speaker).toBe('A')
    bench.clock.advance(1)
    expect(bench.switches).toEqual([[440, 'C']])
    expect(bench.choice.recent).toEqual(['C', 'A'])
    expect(bench.choice.other).toBe('A')
  })

  it('is expected from the beginning of its talking, also for a short word', () => {
    const bench = new Bench('A', 'B')
    bench.speak('A', 3000)
    bench.speak('D', 3000)
    bench.clock.advance(5000)
    expect(bench.expected).toEqual([])
    bench.speak('B', 250)
    bench.clock.advance(5000)
    bench.speak('B', 3000)
    bench.clock.advance(5000)
    expect(bench.expected).toEqual(['B', 'B'])
  })

  it.each([100, 200, 250, 390])('does not change for a word of %i ms', (ms) => {
    const bench = new Bench('A', 'B')
    bench.speak('B', ms)
    bench.clock.advance(5000)
    expect(bench.switches).toEqual([])
    expect(bench.clock.running).toBe(0)
  })

  it('changes for speech, and not for the talking before it', () => {
    const bench = new Bench('A', 'B')
    bench.choice.setTalking('B', true, false)
    bench.clock.advance(5000)
    expect(bench.speaker).toBe('A')
    bench.choice.setTalking('B', true)
    expect(bench.speaker).toBe('B')
  })

  it('stays while it talks, however loudly another one talks too', () => {
    const bench = new Bench('A', 'B')
    bench.choice.setTalking('A', true)
    bench.choice.setTalking('B', true)
    bench.clock.advance(60_000)
    expect(bench.speaker).toBe('A')
    bench.choice.setTalking('A', false)
    expect(bench.switches).toEqual([[60_000, 'B']])
  })

  it('stays after it has fallen silent', () => {
    const bench = new Bench('A', 'B')
    bench.speak('B', 1000)
    bench.clock.advance(600_000)
    expect(bench.speaker).toBe('B')
  })

  it('changes at most once in 1.5 s, then to a candidate that still talks', () => {
    const bench = new Bench('A', 'B', 'C', 'D')
    bench.speak('B', 500)
    bench.clock.advance(1200)
    expect(bench.switches).toEqual([[440, 'B']])
    bench.choice.setTalking('C', true)
    bench.choice.setTalking('D', true)
    bench.clock.advance(300)
    bench.choice.setTalking('C', false)
    bench.clock.advance(439)
    expect(bench.speaker).toBe('B')
    bench.clock.advance(1)
    expect(bench.switches).toEqual([
      [440, 'B'],
      [1940, 'D'],
    ])
  })

  it('is the candidate with the most voice of several', () => {
    const bench = new Bench('A', 'B', 'C')
    bench.choice.setTalking('A', true)
    bench.choice.setTalking('C', true)
    bench.clock.advance(100)
    bench.choice.setTalking('B', true)
    bench.clock.advance(2000)
    bench.choice.setTalking('A', false)
    expect(bench.speaker).toBe('C')
  })

  it('is never a member without a picture', () => {
    const bench = new Bench('A', 'B')
    bench.choice.setTalking('phone', true)
    bench.clock.advance(10_000)
    expect(bench.switches).toEqual([])
    bench.choice.setCandidates(['A', 'B', 'phone'])
    expect(bench.speaker).toBe('phone')
  })

  it('is replaced at once if it is no longer a candidate, by a member that talks or the one before', () => {
    const bench = new Bench('A', 'B', 'C')
    bench.speak('C', 1000)
    bench.clock.advance(3000)
    bench.choice.setCandidates(['B', 'A'])
    expect(bench.speaker).toBe('A')
    bench.choice.setTalking('A', true)
    bench.choice.setTalking('B', true)
    bench.clock.advance(200)
    bench.choice.setCandidates(['D', 'B'])
    expect(bench.speaker).toBe('B')
    expect(bench.choice.other).toBe('D')
    bench.choice.setCandidates([])
    expect(bench.speaker).toBeUndefined()
  })

  it('does not change back within 1.5 s of a replacement', () => {
    const bench = new Bench('A', 'B', 'C')
    bench.choice.setCandidates(['B', 'C'])
    bench.choice.setTalking('C', true)
    bench.clock.advance(1499)
    expect(bench.speaker).toBe('B')
    bench.clock.advance(1)
    expect(bench.speaker).toBe('C')
  })

  it('does not become a member that has left', () => {
    const bench = new Bench('A', 'B')
    bench.choice.setTalking('B', true)
    bench.choice.forget('B')
    bench.choice.setCandidates(['A'])
    bench.choice.setCandidates(['A', 'B'])
    bench.clock.advance(5000)
    expect(bench.speaker).toBe('A')
    expect(bench.clock.running).toBe(0)
  })

  it('has no timer after the end', () => {
    const bench = new Bench('A', 'B')
    bench.choice.setTalking('B', true)
    bench.choice.setTalking('B', false)
    bench.choice.setTalking('A', true)
    expect(bench.clock.running).toBe(1)
    bench.choice.close()
    expect(bench.clock.running).toBe(0)
  })
})

const ids = ['A', 'B', 'C', 'D'] as const

const step = fc.oneof(
  fc.record({
    kind: fc.constant('talk' as const),
    id: fc.constantFrom(...ids),
    isTalking: fc.boolean(),
    hasVoice: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 2000 }) }),
  fc.record({ kind: fc.constant('candidates' as const), ids: fc.shuffledSubarray([...ids]) }),
)

it('changes of the speaker by voice lie 1.5 s apart, and go to candidates that talk', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = new FakeClock()
      const talking = new Set<string>()
      let candidates: readonly string[] = []
      let before: string | undefined
      let changedAt = Number.NEGATIVE_INFINITY
      const choice: SpeakerChoice = new SpeakerChoice({
        clock,
        onChange: () => {
          const [speaker] = choice.recent
          expect(clock.now() - changedAt).toBeGreaterThanOrEqual(1500)
          expect(talking.has(before ?? '')).toBe(false)
          expect(talking.has(speaker ?? '')).toBe(true)
          expect(speaker).not.toBe(before)
          before = speaker
          changedAt = clock.now()
        },
        onExpected: (id) => expect([candidates.includes(id), id === before]).toEqual([true, false]),
      })
      for (const each of steps) {
        if (each.kind === 'wait') clock.advance(each.ms)
        else if (each.kind === 'talk') {
          if (each.isTalking) talking.add(each.id)
          else talking.delete(each.id)
          choice.setTalking(each.id, each.isTalking, each.isTalking && each.hasVoice)
        } else {
          candidates = each.ids
          choice.setCandidates(candidates)
          before = choice.recent[0]
        }
        const { recent, other } = choice
        expect(recent.every((id) => candidates.includes(id))).toBe(true)
        expect(new Set(recent).size).toBe(recent.length)
        expect(recent.length > 0).toBe(candidates.length > 0)
        expect(other !== undefined).toBe(candidates.length > 1)
        expect(other === undefined || (other !== recent[0] && candidates.includes(other))).toBe(true)
        expect(clock.running).toBeLessThanOrEqual(1)
      }
      choice.close()
      expect(clock.running).toBe(0)
    }),
    { numRuns: 500 },
  )
})
