import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dial, joined } from '../rtp/testing/dtmf-tones.ts'
import type { ReflexRequest, TapEvent } from '../types.ts'
import {
  framesOf,
  louder,
  noise,
  overG711,
  prepare,
  quiet,
  speech,
  talk,
  tone,
} from './testing/detection-sounds.ts'
import { VoiceReflex } from './voice-reflex.ts'

describe('the reflex', () => {
  let voice: Int16Array
  let events: TapEvent[]
  let speaking: { queued: number; isSpeaking: boolean; readonly fades: number[]; pause(fadeMs: number): void }
  let reflex: VoiceReflex
  let atMs: number

  beforeAll(async () => {
    const [spoken] = await prepare(speech('I would like to change my appointment, please.'))
    voice = spoken!.subarray(spoken!.findIndex((sample) => Math.abs(sample) > 300))
  })

  const start = (request: ReflexRequest = {}) => {
    atMs = 0
    events = []
    speaking = {
      queued: 0,
      isSpeaking: false,
      fades: [],
      pause(fadeMs) {
        this.fades.push(fadeMs)
        this.isSpeaking = false
      },
    }
    reflex = new VoiceReflex(request, {
      rate: 8000,
      speech: speaking,
      onEvent: (event) => events.push(event),
    })
  }
  beforeEach(() => start())

  const hear = (samples: Int16Array, sent?: Int16Array) => {
    for (const frame of framesOf(samples)) {
      reflex.hear(frame, atMs)
      reflex.sent(sent?.subarray(atMs * 8, atMs * 8 + 160))
      atMs += 20
    }
  }
  const speak = () => {
    speaking.queued = 1000
    speaking.isSpeaking = true
  }
  const beginnings = () => events.filter(({ kind }) => kind === 'voice-began')

  it('reports a voice, which began with its first frame and ends with its last', () => {
    hear(joined([quiet(400), voice.subarray(0, 160 * 50), quiet(600)]))
    expect(events[0]).toEqual({ kind: 'voice-began', atMs: 400, isFaded: false })
    const last = events.at(-1) as { kind: string; atMs: number }
    expect(last.kind).toBe('voice-ended')
    expect(last.atMs).toBeGreaterThan(1100)
    expect(last.atMs).toBeLessThanOrEqual(1400)
    expect(speaking.fades).toEqual([])
  })

  it('lowers speech with the third voiced frame, once for each voice', () => {
    speak()
    hear(joined([quiet(400), voice.subarray(0, 160 * 2)]))
    expect(events).toEqual([])
    hear(voice.subarray(160 * 2, 160 * 3))
    expect([events, speaking.fades]).toEqual([[{ kind: 'voice-began', atMs: 400, isFaded: true }], [30]])
    speaking.isSpeaking = true
    hear(talk(1000))
    expect(speaking.fades).toEqual([30])
    hear(joined([quiet(400), talk(200)]))
    expect([speaking.fades, beginnings().length]).toEqual([[30, 30], 2])
  })

  it('follows the durations of its request', () => {
    start({ voicedMs: 100, fadeMs: 50, silentMs: 400 })
    speak()
    hear(joined([quiet(400), talk(80), quiet(400)]))
    expect(events).toEqual([])
    hear(joined([noise(120, -20), quiet(380)]))
    expect([events.length, speaking.fades]).toEqual([1, [50]])
    hear(quiet(20))
    expect(events.at(-1)).toEqual({ kind: 'voice-ended', atMs: 1000 })
  })

  it('ignores clicks, steady noise after a second, and keys', () => {
    speak()
    const click = joined([noise(20, -10), quiet(20)])
    hear(joined([quiet(1000), ...Array(20).fill(click)]))
    const press = { ms: 100, pauseMs: 60, rowDb: -8, twistDb: 0, rowOff: 0, columnOff: 0 }
    const keys = [...'1590#'].map((key) => ({ ...press, key }))
    hear(overG711('PCMU', dial(8000, keys, 60, 3)))
    expect(events).toEqual([])
    hear(noise(3000, -30))
    expect(events.map(({ kind }) => kind)).toEqual(['voice-began', 'voice-ended'])
    hear(joined([quiet(1000), tone(440, 200)]))
    expect(beginnings()).toHaveLength(2)
  })

  it('takes no part of a word for a key', () => {
    hear(joined([quiet(400), voice]))
    const first = beginnings()[0] as { atMs: number }
    expect([first.atMs, beginnings().length]).toEqual([400, 1])
  })

  it('reports voice but lowers nothing while that is not allowed', () => {
    speak()
    reflex.mayFade = false
    hear(joined([quiet(400), noise(500, -20)]))
    expect([beginnings(), speaking.fades]).toEqual([[{ kind: 'voice-began', atMs: 400, isFaded: false }], []])
  })

  it('lowers speech that began during a voice if the voice goes on, but not speech that was resumed', () => {
    const going = (ms: number) => hear(noise(ms, -15, atMs).map((sample, i) => (i % 3200 < 400 ? 0 : sample)))
    hear(quiet(1000))
    going(300)
    speak()
    going(120)
    expect(beginnings()).toHaveLength(1)
    going(200)
    expect(beginnings().at(-1)).toMatchObject({ isFaded: true, atMs: (events[0] as { atMs: number }).atMs })
    speaking.isSpeaking = true
    going(800)
    expect(speaking.fades).toEqual([30])
    // The owner cuts, and answers although the voice goes on.
    speaking.queued = 0
    speaking.isSpeaking = false
    going(100)
    speak()
    going(400)
    expect(speaking.fades).toEqual([30, 30])
  })

  it('hears no voice in an echo, unless its guard is off', () => {
    const sent = voice
    const received = joined([quiet(200), louder(voice, -20), quiet(200)])
    for (const [echoGuard, count] of [
      [true, 0],
      [false, 1],
    ] as const) {
      start({ echoGuard })
      speak()
      hear(received, sent)
      expect(speaking.fades).toHaveLength(count)
    }
  })

  it('is disturbed once by an echo that begins after speech without one', () => {
    const agent = [...framesOf(joined(Array(6).fill(voice)))]
    const weaker = [...framesOf(louder(joined(Array(6).fill(voice)), -20))]
    const sent: (number | undefined)[] = []
    let next = 0
    const pass = (hasEcho: boolean) => {
      const heard = hasEcho ? sent.at(-5) : undefined
      reflex.hear(heard === undefined ? quiet(20) : weaker[heard], atMs)
      const at = speaking.isSpeaking ? next++ : undefined
      reflex.sent(at === undefined ? undefined : agent[at])
      sent.push(at)
      atMs += 20
      // The owner goes on when the voice has ended.
      if (events.at(-1)?.kind === 'voice-ended') speaking.isSpeaking = true
    }
    speak()
    while (next < agent.length / 2) pass(false)
    expect(speaking.fades).toEqual([])
    while (next < agent.length) pass(true)
    expect(speaking.fades).toHaveLength(1)
  })
})
